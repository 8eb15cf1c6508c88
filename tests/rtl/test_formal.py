"""The proofs of RTL leaves succeed, and each fails when a fault is planted in its leaf."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.rtl.formal import PROOFS, QUICK, Proof, ProofError, prove
from tests.rtl.formal_faults import FAULTS, Fault

LEAVES = sorted({proof.leaf for proof in PROOFS})
pytestmark = [pytest.mark.rtl]


def reduced(fault: Fault) -> Proof:
    """The smallest proof of the fault's leaf that can notice it."""
    proofs = [proof for proof in PROOFS if proof.leaf == fault.leaf]
    return proofs[-1]


def broken(fault: Fault, proof: Proof, folder: Path) -> None:
    """Copy the proof's sources to `folder`, the leaf with its fault."""
    for source in proof.sources:
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / source)
    leaf = folder / "rtl_models" / fault.folder / f"{fault.leaf}.sv"
    text = leaf.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    leaf.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def test_eight_leaves_have_a_proof_and_faults_that_it_must_notice() -> None:
    assert len(LEAVES) >= 8
    assert sorted({fault.leaf for fault in FAULTS}) == LEAVES
    assert len(QUICK) == 3
    assert set(QUICK) <= set(LEAVES)
    for proof in PROOFS:
        for source in proof.sources:
            assert (ROOT / source).is_file(), source


def test_each_fault_has_its_place_in_the_rtl() -> None:
    for fault in FAULTS:
        text = (ROOT / "rtl_models" / fault.folder / f"{fault.leaf}.sv").read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, fault


@pytest.mark.slow
@pytest.mark.parametrize("proof", [proof for proof in PROOFS if proof.leaf in QUICK], ids=lambda proof: proof.name)
def test_the_quickest_proofs(proof: Proof) -> None:
    assert prove(proof).every_length


@pytest.mark.nightly
@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_the_proof_succeeds(proof: Proof) -> None:
    assert prove(proof).every_length == proof.induction


def fails(fault: Fault, folder: Path) -> None:
    proof = reduced(fault)
    broken(fault, proof, folder)
    with pytest.raises(ProofError, match=f"Assert failed in {proof.top}"):
        prove(proof, folder)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.leaf}: {fault.new}")
def test_a_fault_is_noticed(fault: Fault, tmp_path: Path) -> None:
    fails(fault, tmp_path)


@pytest.mark.slow
def test_a_fault_is_noticed_in_every_run(tmp_path: Path) -> None:
    fails(next(fault for fault in FAULTS if fault.leaf == QUICK[0]), tmp_path)


def test_a_harness_without_assertions_is_no_proof(tmp_path: Path) -> None:
    (tmp_path / "empty_proof.sv").write_text("module empty_proof (input wire a);\nendmodule\n", encoding="utf-8")
    with pytest.raises(ProofError, match="empty_proof has no assertion"):
        prove(Proof("empty", ("empty_proof.sv",), 1), tmp_path)
