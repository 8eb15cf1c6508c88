"""The lists of system packages agree: what `mrc doctor` asks for, the Dockerfile and CI install."""

from __future__ import annotations

import re

from pymodel.base.toolpath import ROOT, TOOLS

ASKED = {tool.package for tool in TOOLS.values() if tool.package}


def test_the_dockerfile_installs_what_doctor_asks_for() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert text.splitlines()[3].startswith("FROM p4lang/p4c")
    block = re.search(r"apt-get install -y --no-install-recommends \\\n(.*?) \\\n &&", text, re.S)
    assert block is not None
    installed = set(block.group(1).split())
    assert installed - ASKED == {"python3", "python3-dev", "python3-venv"}
    assert installed >= ASKED
    # `make p4 && pytest` literally: the environment that make made is the one on PATH.
    assert "RUN make venv-full" in text
    assert "/mrc/.venv/bin" in text


def test_ci_installs_what_doctor_asks_for() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    packages = re.search(r"packages=\((.*)\)", text)
    assert packages is not None
    # CI is a checkout, so git is there already.
    assert set(packages.group(1).split()) == ASKED - {"git"}
