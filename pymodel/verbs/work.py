"""Work requests and their completions, by the names of libibverbs, which `mrc.h` takes over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

__all__ = ["Access", "RecvRequest", "SendRequest", "Sge", "WcOpcode", "WcStatus", "WorkCompletion", "WrOpcode"]


class Access(IntFlag):
    """What a memory region allows (`ibv_access_flags`)."""

    LOCAL_WRITE = 1
    REMOTE_WRITE = 2
    REMOTE_READ = 4
    REMOTE_ATOMIC = 8


class WrOpcode(IntEnum):
    """Operation of a send request (`ibv_wr_opcode`); MRC carries the first two and refuses the others."""

    RDMA_WRITE = 0
    RDMA_WRITE_WITH_IMM = 1
    SEND = 2
    SEND_WITH_IMM = 3
    RDMA_READ = 4
    ATOMIC_CMP_AND_SWP = 5
    ATOMIC_FETCH_AND_ADD = 6


@dataclass(frozen=True, slots=True)
class Sge:
    """`length` bytes of local memory from `address`, within the region of `lkey`."""

    address: int
    length: int
    lkey: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest:
    """A write of the bytes that `sg_list` names, one after the other, to `remote_address` under `rkey`.

    `imm_data` is 32 bits and goes with RDMA_WRITE_WITH_IMM alone. An unsignaled request that succeeds makes no
    completion, unless its QP signals all.
    """

    wr_id: int
    opcode: WrOpcode = WrOpcode.RDMA_WRITE
    sg_list: tuple[Sge, ...] = ()
    remote_address: int = 0
    rkey: int = 0
    imm_data: int | None = None
    signaled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RecvRequest:
    """Room for one Write with Immediate. It names no memory: the write says itself where its bytes go."""

    wr_id: int


class WcStatus(IntEnum):
    """How a request ended (`ibv_wc_status`)."""

    SUCCESS = 0
    WR_FLUSH_ERR = 5
    REM_INV_REQ_ERR = 9
    REM_ACCESS_ERR = 10
    REM_OP_ERR = 11
    RETRY_EXC_ERR = 12
    GENERAL_ERR = 21


class WcOpcode(IntEnum):
    """What ended (`ibv_wc_opcode`)."""

    RDMA_WRITE = 1
    RECV_RDMA_WITH_IMM = 129


@dataclass(frozen=True, slots=True)
class WorkCompletion:
    """A completion queue entry (`ibv_wc`). `byte_len` and `imm_data` mean something when `status` is SUCCESS."""

    wr_id: int
    status: WcStatus
    opcode: WcOpcode
    byte_len: int
    imm_data: int | None
    qp_num: int
