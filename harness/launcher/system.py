"""What only the operating system can give: a Java for Spark, and on some systems a pip for Python.

As root on Debian or Ubuntu the launcher installs them by apt, after saying so. Anywhere else it
says what to install and what works without it. Nothing here runs unless an environment is being
made.
"""

import os
import shutil
from collections.abc import Sequence

from harness.launcher.tools import Attempt, say
from harness.processes.java import find_java, missing_sentence

JAVA_PACKAGES = ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "openjdk-25-jre-headless")
"""In order of preference; each release of Debian and Ubuntu has at least one of them."""


def apt_may_install() -> bool:
    """Root on Debian or Ubuntu."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install_by_apt(packages: Sequence[str], attempt: Attempt) -> bool:
    """Install the first of the packages that this release has."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    attempt("reading the package lists (apt-get update)", ["apt-get", "update"], **quiet)
    for package in packages:
        if not attempt(f"looking for {package} (apt-cache)", ["apt-cache", "show", package]):
            command = ["apt-get", "install", "-y", "--no-install-recommends", package]
            return not attempt(f"installing {package} (apt-get)", command, **quiet)
    return False


def offer_java(attempt: Attempt, *, may_install: bool) -> None:
    """Without a Java for Spark: install one if we may, else say what to install."""
    if find_java() is not None:
        return
    if not may_install:
        say(missing_sentence())
        return
    say("no Java that Spark can use was found; as root on Debian, installing one by apt")
    if install_by_apt(JAVA_PACKAGES, attempt) and find_java() is not None:
        say("Java is installed")
    else:
        say(f"apt could not install Java. {missing_sentence()}")
