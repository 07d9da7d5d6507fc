#!/usr/bin/env bash
# What drifts? Asked of a raw state with jq, and of Kilolock with one SELECT; both timed.
# Three resources, one of them changed outside Terraform. Starts a server, stops it, leaves nothing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=${KL_BIN:-$here/../../.venv/bin}
work=$(mktemp -d)
server=
TIMEFORMAT='(%R s)'

stop() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT

say() { printf '\n== %s\n' "$1"; }

say 'Start a server; its PostgreSQL is embedded.'
export KL_DATA_DIR=$work/data
mkfifo "$work/out"
"$bin/kld" serve --data-dir "$KL_DATA_DIR" --listen 127.0.0.1:0 >"$work/out" &
server=$!
exec 3<"$work/out"
read -r -t 180 line <&3 || { echo 'the server did not start' >&2; exit 1; }
url=${line##* }

say 'A state of three resources; a copy of it is kept, as one would without Kilolock.'
cp "$here/three.tfstate" "$work/before.tfstate"
"$bin/kl" import "$work/before.tfstate" --name drift-demo

say 'Somebody changes one of them; a refresh finds out.'
# A provider would be asked by "kl refresh". These resources are nowhere but in the state, so what
# the refresh found is written here, through the door that "kl refresh" commits through. Members are
# turned round and white space is gone: Kilolock compares values, so that is no drift.
"$bin/python" - "$work/before.tfstate" "$work/found.tfstate" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
document["serial"] += 1
for resource in document["resources"]:
    if resource["name"] == "web":
        resource["instances"][0]["attributes"]["keepers"]["image"] = "web:3.2"
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(document, file, separators=(",", ":"))
PYTHON
"$bin/kl" import "$work/found.tfstate" --name drift-demo --source refresh

fetch() {
    if command -v curl >/dev/null; then
        curl --silent --show-error --fail "$url/v1/states/drift-demo"
    else
        "$bin/python" -c 'import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' "$url/v1/states/drift-demo"
    fi
}

compare() {
    if command -v jq >/dev/null; then
        jq --raw-output --slurpfile before "$work/before.tfstate" '
            def objects: [
                .resources[] as $r | $r.instances[]
                | {key: "\($r.type).\($r.name)", value: .attributes}
            ] | from_entries;
            def leaves: . // {} | [
                paths(scalars) as $p | {key: $p | map(tostring) | join("."), value: getpath($p)}
            ] | from_entries;
            ($before[0] | objects) as $old | objects as $new
            | ($old + $new | keys_unsorted[]) as $address
            | select($old[$address] != $new[$address])
            | ($old[$address] | leaves) as $was | ($new[$address] | leaves) as $is
            | [$was + $is | keys[] | select($was[.] != $is[.])] as $changed
            | "\($address)\t\($changed | join(", "))"
        ' "$work/now.tfstate"
    else
        "$bin/python" - "$work/before.tfstate" "$work/now.tfstate" <<'PYTHON'
import json
import sys


def leaves(value, path=()):
    if isinstance(value, dict):
        return {p: v for key in value for p, v in leaves(value[key], (*path, key)).items()}
    return {".".join(path): value}


def objects(name):
    with open(name, encoding="utf-8") as file:
        return {
            f"{r['type']}.{r['name']}": leaves(i["attributes"])
            for r in json.load(file)["resources"]
            for i in r["instances"]
        }


old, new = objects(sys.argv[1]), objects(sys.argv[2])
for address in sorted(old | new):
    was, now = old.get(address, {}), new.get(address, {})
    changed = [path for path in sorted(was | now) if was.get(path) != now.get(path)]
    if changed:
        print(f"{address}\t{', '.join(changed)}")
PYTHON
    fi
}

say 'The raw way: fetch the state, join it with the copy, compare leaf by leaf.'
command -v curl >/dev/null || echo 'curl is not on PATH: Python fetches instead.'
command -v jq >/dev/null || echo 'jq is not on PATH: Python compares instead.'
{ time { fetch >"$work/now.tfstate"; compare; }; } 2>&1

say 'The other way: one SELECT. No copy was needed; psql gives the time.'
{ time "$bin/kld" psql; } 2>&1 <<'SQL'
\timing on
select d.address, jsonb_path_query_array(d.changes, '$[*].path') as changed
from kl.current_resource_drift as d
where d.state_name = 'drift-demo';
SQL

say 'The same for people.'
"$bin/kl" drift drift-demo

say 'Stop.'
