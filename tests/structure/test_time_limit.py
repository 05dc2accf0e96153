"""A test that hangs is ended and shows the line it hangs in; one that ends is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("-o", "time_limit_s=0.5", "-o", "time_limit_grace_s=1")
RUN = ("-p", "harness.time_limit", "-p", "no:cacheprovider", "-W", "ignore", *SHORT)
PYTEST_FAILED = 1

WAITS = """
import asyncio, subprocess, threading
import pytest
from hypothesis import given, strategies as st

def test_takes_a_lock_twice():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()

def test_waits_for_a_child():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat:
        cat.wait()

def test_waits_for_an_event():
    asyncio.run(asyncio.Event().wait())

def wait_elsewhere(gate):
    gate.wait()

def test_waits_for_a_thread():
    other = threading.Thread(target=wait_elsewhere, args=[threading.Event()], daemon=True)
    other.start()
    other.join()

@given(st.integers())
def test_a_property_is_not_tried_again(number):
    threading.Event().wait()

@pytest.mark.slow
def test_ends():
    pass
"""

IN_C = """
import ctypes

def lock_twice(lock, mutex):
    lock(mutex)
    lock(mutex)

def test_hangs():
    # Holds the interpreter's lock all the while.
    lock_twice(ctypes.PyDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64))
"""

AT_EXIT = """
import threading
import pytest

@pytest.mark.slow
def test_leaves_a_thread():
    threading.Thread(target=threading.Event().wait).start()
"""


OUTLASTS = """
import threading
import pytest

def test_ends():
    pass

@pytest.mark.slow
def test_outlasts_a_worker_that_is_done():
    threading.Event().wait(5)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return pytester


def test_tests_that_wait_without_end_fail_with_all_stacks_and_the_others_run(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(WAITS)
    run = project.runpytest_subprocess(*RUN, timeout=120)
    run.assert_outcomes(failed=WAITS.count("def test_") - 1, passed=1)
    shown = run.stdout.str()
    assert shown.count("the test did not end in time") >= WAITS.count("def test_") - 1
    assert "in wait_elsewhere" in shown


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "in a worker"])
def test_one_that_hangs_in_c_code_ends_the_process_and_the_run_fails(
    workers: tuple[str, ...], project: pytest.Pytester
) -> None:
    project.makepyfile(IN_C)
    run = project.runpytest_subprocess(*RUN, *workers, timeout=120)
    assert run.ret == PYTEST_FAILED
    run.stderr.fnmatch_lines(["Timeout*", "*in lock_twice*"])


def test_a_process_that_does_not_end_after_its_tests_is_ended(project: pytest.Pytester) -> None:
    project.makepyfile(AT_EXIT)
    run = project.runpytest_subprocess(*RUN, timeout=120)
    run.assert_outcomes(passed=1)
    assert run.ret == PYTEST_FAILED
    run.stderr.fnmatch_lines(["Timeout*"])


def test_a_worker_that_is_done_waits_for_the_others(project: pytest.Pytester) -> None:
    project.makepyfile(OUTLASTS)
    long_enough_to_end = ("-o", "time_limit_s=4")  # an interpreter may take its time over that
    run = project.runpytest_subprocess(*RUN, *long_enough_to_end, "-n", "2", timeout=120)
    run.assert_outcomes(passed=2)
    assert run.ret == 0
    assert "Timeout" not in run.stderr.str()
