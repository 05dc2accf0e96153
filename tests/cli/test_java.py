"""Which Java is taken for Spark, and what is said when there is none."""

from pathlib import Path

import pytest

from harness.processes.java import JavaMissing, find_java, java_home_for_spark, major_version


def install(home: Path, version: str | None = None) -> Path:
    """A Java as far as anybody looks; without a release file it has to be asked."""
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\nexit 1\n")
    binary.chmod(0o755)
    if version:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ("17.0.15", 17),
        ("1.8.0_392", 8),
        ("25", 25),
        ("21-ea", 21),
        ('"11.0.2"', 11),
        ("", None),
        ("openjdk", None),
    ],
)
def test_a_version_has_one_leading_number(text: str, major: int | None):
    assert major_version(text) == major


def test_java_home_is_obeyed_before_path(tmp_path: Path):
    told = install(tmp_path / "told", "17.0.1")
    on_path = install(tmp_path / "on-path", "21.0.1")

    java = find_java({"JAVA_HOME": str(told), "PATH": str(on_path / "bin")}, folders=())

    assert java is not None
    assert (java.home, java.major, java.found_by) == (told, 17, "JAVA_HOME")


def test_a_java_home_that_is_too_old_is_passed_over(tmp_path: Path):
    old = install(tmp_path / "old", "11.0.2")
    good = install(tmp_path / "good", "17.0.1")

    java = find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")}, folders=())

    assert java is not None
    assert java.home == good


def test_a_link_on_path_leads_to_the_real_home(tmp_path: Path):
    home = install(tmp_path / "jvm" / "java-17", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")

    java = find_java({"PATH": str(tmp_path / "bin")}, folders=())

    assert java is not None
    assert java.home == home


def test_the_newest_of_a_usual_folder_is_taken(tmp_path: Path):
    install(tmp_path / "java-9-openjdk", "9.0.1")
    newest = install(tmp_path / "java-21-openjdk", "21.0.2")
    install(tmp_path / "java-17-openjdk", "17.0.1")

    java = find_java({"PATH": ""}, folders=(f"{tmp_path}/*",))

    assert java is not None
    assert java.home == newest


def test_a_java_without_a_release_file_is_asked(tmp_path: Path):
    shim = install(tmp_path / "shim")
    (shim / "bin" / "java").write_text(
        "#!/bin/sh\n"
        'echo "    java.home = /opt/real-jdk" >&2\n'
        'echo "    java.version = 21.0.4" >&2\n'
        'echo "    java.version.date = 2024-07-16" >&2\n'
    )

    java = find_java({"JAVA_HOME": str(shim), "PATH": ""}, folders=())

    assert java is not None
    assert (java.home, java.major) == (Path("/opt/real-jdk"), 21)


def test_a_stub_that_does_not_run_is_no_java(tmp_path: Path):
    assert find_java({"PATH": str(install(tmp_path / "stub") / "bin")}, folders=()) is None


def test_a_java_home_that_points_nowhere_is_passed_over(tmp_path: Path):
    assert find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}, folders=()) is None


def test_spark_gets_the_home_that_was_found(tmp_path: Path):
    home = install(tmp_path / "jdk", "17.0.1")

    assert java_home_for_spark({"JAVA_HOME": str(home), "PATH": ""}, folders=()) == str(home)


def test_without_java_the_sentence_says_what_to_install_and_what_works_without(tmp_path: Path):
    with pytest.raises(JavaMissing) as missing:
        java_home_for_spark({"PATH": ""}, folders=())

    assert str(missing.value).startswith("No Java 17 or newer was found. Install Java 17 or newer")
    assert "`--engine inline`" in str(missing.value)


def test_a_java_that_is_too_old_is_named(tmp_path: Path):
    old = install(tmp_path / "jdk8", "1.8.0_392")

    with pytest.raises(JavaMissing, match=f"Java 8 at {old}: too old"):
        java_home_for_spark({"JAVA_HOME": str(old), "PATH": ""}, folders=())
