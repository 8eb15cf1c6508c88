"""The record of the long runs: every job selects tests, and a figure older than its sources is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.bench.nightly import FIGURES_VARIABLE, JOBS, Job, report_figure, source_hash, stale


def test_a_changed_source_makes_its_figures_stale(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("1\n", encoding="utf-8")
    job = Job("small", (), ("*.py",))
    record = tmp_path / "nightly.json"
    assert stale(record, [job], tmp_path) == ["small"]
    record.write_text(json.dumps({"jobs": {"small": {"sources_sha256": source_hash(job, tmp_path)}}}), encoding="utf-8")
    assert stale(record, [job], tmp_path) == []
    source.write_text("2\n", encoding="utf-8")
    assert stale(record, [job], tmp_path) == ["small"]
    source.write_text("1\n", encoding="utf-8")
    source.rename(tmp_path / "b.py")
    assert stale(record, [job], tmp_path) == ["small"]


def test_figures_are_kept_one_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "figures.jsonl"
    monkeypatch.setenv(FIGURES_VARIABLE, str(file))
    report_figure("ports", 65_536)
    report_figure("kind", "all")
    assert file.read_text(encoding="utf-8") == '["ports", 65536]\n["kind", "all"]\n'


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_job_has_tests_and_sources(job: Job) -> None:
    given = [ROOT / name for name in job.tests]
    marked = [path for each in given for path in ([each] if each.is_file() else sorted(each.rglob("test_*.py")))]
    assert any("mark.nightly" in path.read_text(encoding="utf-8") for path in marked)
    for pattern in job.sources:
        assert any(ROOT.glob(pattern)), pattern


def test_every_long_test_has_a_job() -> None:
    given = [ROOT / name for job in JOBS for name in job.tests]
    for folder in ("tests", "cocotb_tests"):
        for path in sorted((ROOT / folder).rglob("test_*.py")):
            if "mark.nightly" in path.read_text(encoding="utf-8") and path != Path(__file__):
                assert any(path == each or each in path.parents for each in given), path
