"""`docs/api.md` names every call of this room, and every call of the two OCP headers."""

from __future__ import annotations

import re
import types

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.verbs import application, controller, endpoint, memory

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")

APPLICATION = """
query_device query_device_ex query_version create_context destroy_context create_comp_channel get_comp_channel_fd
destroy_comp_channel create_cq poll_cq destroy_cq create_qp_hint destroy_qp_hint query_qp_hint modify_qp_hint create_qp
destroy_qp query_qp modify_qp get_qpn post_recv post_send get_async_event ack_async_event req_notify_cq get_cq_event
ack_cq_events
"""
CONTROLLER = """
query_device query_device_ex query_version query_port modify_port modify_ev_fmt_profile query_ev_fmt_profile
modify_ev_profile query_ev_profile modify_cc_profile query_cc_profile create_ev_event_cq poll_ev_event
ep_batch_send_wait
"""


@pytest.mark.parametrize("room", [application, controller, endpoint, memory], ids=lambda room: room.__name__)
def test_every_call_is_on_the_page(room: types.ModuleType) -> None:
    calls = [name for name in room.__all__ if isinstance(getattr(room, name), types.FunctionType)]
    assert calls
    for name in calls:
        assert re.search(rf"`{name}[`(]", PAGE), name


def test_every_call_of_the_headers_is_mapped_or_left_out() -> None:
    for prefix, names in (("mrc_", APPLICATION), ("mrc_ctl_", CONTROLLER)):
        for name in re.findall(r"\w+", names):
            assert f"`{prefix}{name}`" in PAGE, name
