"""The README says what is so."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.programs import Served
from tests.clusters import Database, running_cluster
from tests.readme import README, objects, with_objects

ROOT = README.parent
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "sql" / "README.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def _blocks(language: str) -> Iterator[str]:
    text = README.read_text(encoding="utf-8")
    for match in re.finditer(rf"```{language}\n(.*?)```", text, re.DOTALL):
        yield match[1]


@pytest.fixture(scope="module")
def fresh() -> Iterator[Database]:
    """A fresh database."""
    with running_cluster("pg18") as cluster, cluster.clone() as database:
        yield database


def test_the_list_of_objects_is_the_catalogs(fresh: Database) -> None:
    text = README.read_text(encoding="utf-8")
    assert text == with_objects(text, objects(fresh)), "run make readme"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor:
            assert anchor in _anchors(found), target


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_question_runs_as_an_analyst(served: Served) -> None:
    questions = [q for block in _blocks("sql") for q in block.split(";") if q.strip()]
    assert len(questions) == 3
    for question in questions:
        served.query(question.replace("%", "%%"))


def test_every_make_target_and_command_exists(served: Served) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = "".join(_blocks("sh"))
    for target in re.findall(r"^make ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for command in re.findall(r"\bkl (?:--data-dir \S+ )?([a-z]+)", text):
        assert command in served.kl("--help")
    for command in re.findall(r"\bkld ([a-z]+)", text):
        assert command in served.kld("--help")
