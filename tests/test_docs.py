"""The pages: every link leads somewhere, every command exists, and none speaks of a machine of ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import typer.main

from pymodel.base.toolpath import ROOT
from pymodel.cli import app

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+://", target):
            assert (page.parent / target).exists(), target


def test_the_readme_lists_every_page() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[2:] if f"docs/{page.name}" not in text] == []
    assert len(text.splitlines()) < 80


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_target_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|^)make ([a-z][a-z0-9-]*)", text, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), f"make {target}"
    root = typer.main.get_command(app)
    for words in re.findall(r"(?:`|^)mrc ([a-z]+(?: [a-z]+)?)", text, re.M):
        command = root
        for word in words.split():
            if not hasattr(command, "commands"):
                break
            assert word in command.commands, f"mrc {words}"
            command = command.commands[word]


def test_nothing_tracked_names_a_machine_of_ours() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    pattern = re.compile(r"(?<![\w.<])/(?:work|root)/|files\.python" + "hosted|registry\\.npm")
    found = []
    for name in files:
        path = ROOT / name
        if path.is_file() and path.suffix not in {".pcapng", ".gz", ".json"}:
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                if pattern.search(line):
                    found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert [line for line in found if not line.startswith("tests/test_docs.py")] == []
