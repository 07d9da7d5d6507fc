"""Draw a dependency graph: a tree, Graphviz, Mermaid, JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from cli import output
from pyengine.api_readers import Node

_MERMAID: Final = str.maketrans({'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"})


def print_graph(kind: str, nodes: Sequence[Node], *, up: bool) -> None:
    """Print nodes and edges; `up`: trees grow towards dependents."""
    if kind == "json":
        output.print_json(nodes)
    elif kind == "dot":
        _print_lines(_dot(nodes))
    elif kind == "mermaid":
        _print_lines(_mermaid(nodes))
    else:
        _print_lines(_tree(nodes, up=up))


def _print_lines(lines: Iterator[str]) -> None:
    for line in lines:
        click.echo(line)


def _label(node: Node) -> str:
    count = "" if node.instances == 1 else f" ({node.instances})"
    return output.cell(node.config_address) + count


def _dot(nodes: Sequence[Node]) -> Iterator[str]:
    yield "digraph {"
    yield "  rankdir = LR;"
    yield "  node [shape = box];"
    for node in nodes:
        yield f"  {_quoted(node.config_address)} [label = {_quoted(_label(node))}];"
    for node in nodes:
        for other in node.depends_on:
            yield f"  {_quoted(node.config_address)} -> {_quoted(other)};"
    yield "}"


def _quoted(text: str) -> str:
    return '"' + output.cell(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _mermaid(nodes: Sequence[Node]) -> Iterator[str]:
    numbers = {node.config_address: number for number, node in enumerate(nodes)}
    yield "graph LR"
    for node in nodes:
        yield f'  n{numbers[node.config_address]}["{_label(node).translate(_MERMAID)}"]'
    for node in nodes:
        for other in node.depends_on:
            yield f"  n{numbers[node.config_address]} --> n{numbers[other]}"


def _tree(nodes: Sequence[Node], *, up: bool) -> Iterator[str]:
    """Yield a line per node below what it was reached from; the second time without its own."""
    known = {node.config_address: node for node in nodes}
    below: dict[str, list[str]] = {address: [] for address in known}
    for node in nodes:
        for other in node.depends_on:
            one, another = (other, node.config_address) if up else (node.config_address, other)
            below[one].append(another)
    reached = {other for others in below.values() for other in others}
    seen: set[str] = set()
    # What nothing leads to, then what only a ring leads to.
    for root in [*(address for address in known if address not in reached), *known]:
        if root not in seen:
            yield from _branch(root, known, below, seen)


def _branch(
    root: str, known: Mapping[str, Node], below: Mapping[str, list[str]], seen: set[str]
) -> Iterator[str]:
    stack = [(root, "", "")]
    while stack:
        address, lead, indent = stack.pop()
        again = address in seen and bool(below[address])
        seen.add(address)
        yield lead + _label(known[address]) + (" …" if again else "")
        if again:
            continue
        children = below[address]
        for position in reversed(range(len(children))):
            last = position == len(children) - 1
            stack.append(
                (
                    children[position],
                    indent + ("└─ " if last else "├─ "),
                    indent + ("   " if last else "│  "),
                )
            )
