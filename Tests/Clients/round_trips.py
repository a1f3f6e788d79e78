"""Sends values of hypothesis with a generated client to a server that returns them: round_trips.py ADDRESS COUNT."""
import asyncio
import struct
import sys
import unicodedata
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from probe import Everything, Level, Named, PagePageSide, PageSide, ProbeClient, Side, Tree

whole = st.integers(-(2**63), 2**63 - 1)
# Swift treats two texts as equal if they have the same canonical form, so keys have this form here.
keys = st.text(max_size=20).map(lambda text: unicodedata.normalize("NFC", text))
# A decimal number of Foundation has at most 38 digits.
decimals = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(exponent),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.integers(-40, 40),
)
# The text of a date has milliseconds.
dates = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 30)).map(
    lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000, tzinfo=timezone.utc)
)
sides = st.sampled_from(Side)
pages = st.builds(PageSide, items=st.lists(sides, max_size=3), next=st.none() | whole)
trees = st.recursive(
    st.builds(Tree, label=st.text(), left=st.none(), others=st.just([])),
    lambda inner: st.builds(Tree, label=st.text(), left=st.none() | inner, others=st.lists(inner, max_size=3)),
    max_leaves=8,
)
everything = st.builds(
    Everything,
    flag=st.booleans(),
    byte=st.integers(-128, 127),
    word=st.integers(0, 2**32 - 1),
    whole=whole,
    large=st.integers(0, 2**64 - 1),
    double=st.floats(allow_nan=False, allow_infinity=False),
    float_=st.floats(allow_nan=False, allow_infinity=False, width=32),
    decimal=decimals,
    text=st.text(),
    note=st.none() | st.text(),
    date=dates,
    dates=st.lists(dates, max_size=3),
    uuid=st.uuids(),
    link=st.sampled_from(["https://example.com/a?b=c%20d#e", "app://x/%C3%A9", "a/b"]),
    data=st.binary(max_size=64),
    side=sides,
    level=st.none() | st.sampled_from(Level),
    list_=st.lists(st.lists(st.none() | whole, max_size=3), max_size=3),
    table=st.dictionaries(keys, st.lists(decimals, max_size=3), max_size=3),
    page=st.builds(PagePageSide, items=st.lists(pages, max_size=3), next=st.none() | whole),
    tree=trees,
    named=st.builds(lambda size: Named(grö_e=size), whole),
    class_=st.text(),
)


def single(value: float) -> bytes:
    return struct.pack("f", value)


async def check(address: str, count: int) -> None:
    loop = asyncio.get_running_loop()
    async with ProbeClient(address, token="secret") as client:

        # Without a database of earlier failures, each run tests the same values.
        @settings(
            max_examples=count,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(everything)
        def passes(value: Everything) -> None:
            future = asyncio.run_coroutine_threadsafe(client.probe.echo(value=value)._result(), loop)
            returned = future.result(30)
            # A 32-bit number is compared by its bits, because its text may have the digits of a 64-bit number.
            assert single(returned.float_) == single(value.float_), (returned.float_, value.float_)
            assert replace(returned, float_=value.float_) == value, (returned, value)

        await asyncio.to_thread(passes)


asyncio.run(check(sys.argv[1], int(sys.argv[2])))
print(f"Python: {sys.argv[2]} values of hypothesis")
