"""One direction of a link: times computed by hand, loss by seed."""

from __future__ import annotations

from pymodel.cosim.link import LinkDirection


def test_frames_wait_for_each_other_and_arrive_whole() -> None:
    link = LinkDirection("a:0>b:0", rate_bps=100_000_000_000, delay_ps=500_000, loss_ppm=0, seed=1)
    # 100 Gb/s is 80 ps a byte. 188 bytes + preamble and FCS 12 = 200 bytes = 16,000 ps; the gap adds 960 ps.
    assert link.send(188, 1_000) == 1_000 + 16_000 + 500_000
    assert link.send(188, 1_000) == 1_000 + 16_960 + 16_000 + 500_000
    assert link.send(188, 1_000_000) == 1_000_000 + 16_000 + 500_000
    assert (link.sent, link.lost) == (3, 0)


def test_loss_follows_seed_and_name_alone_and_takes_the_wire() -> None:
    def losses(name: str, seed: int) -> list[bool]:
        link = LinkDirection(name, 100_000_000_000, 0, 10_000, seed)
        return [link.send(100, 0) is None for _ in range(20_000)]

    first = losses("a:0>b:0", 1)
    assert losses("a:0>b:0", 1) == first
    assert losses("b:0>a:0", 1) != first
    assert losses("a:0>b:0", 2) != first
    # 1 % of 20,000 is 200 with a standard deviation of 14.
    assert 130 < sum(first) < 270

    lossy = LinkDirection("x", 100_000_000_000, 0, 1_000_000, 1)
    assert lossy.send(188, 0) is None
    assert lossy.lost == 1
    lossy.loss_ppm = 0
    assert lossy.send(188, 0) == 16_960 + 16_000
