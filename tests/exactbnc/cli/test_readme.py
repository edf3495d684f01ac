import re
import shlex

from tests.exactbnc.cli.conftest import ROOT


def commands_of_block(number: int) -> list[str]:
    """The commands of a console block of the README."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line.removeprefix("$ ") for line in blocks[number].splitlines() if line.startswith("$ ")]


def test_first_example_runs_as_printed(exactbnc, tmp_path, monkeypatch):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    commands = commands_of_block(0)

    runs = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "exactbnc"
        runs.append(exactbnc(*arguments))

    assert [run.code for run in runs] == [0] * len(commands)
    assert (tmp_path / "asia.jkl").exists()
    assert (tmp_path / "asia.jkl.json").exists()
    assert "safe for:   ANB, k-DB and FAN with class 'dysp' with at most 3 parents" in runs[1].out
    assert "status:  optimal (proved" in runs[2].out
    assert (tmp_path / "asia.json").exists()


def python_examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_classifier_example_runs_as_printed(capsys):
    exec(compile(python_examples()[0], "README.md", "exec"), {})

    status, _, *probabilities = capsys.readouterr().out.split()
    assert status == "optimal"
    assert len(probabilities) >= 6


def test_the_network_example_runs_as_printed(tmp_path, monkeypatch, capsys):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)

    exec(compile(python_examples()[1], "README.md", "exec"), {})

    assert capsys.readouterr().out.startswith("optimal -1142.967")


def test_the_commands_for_classifiers_run_as_printed(exactbnc, tmp_path, monkeypatch):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)

    runs = [exactbnc(*shlex.split(command)[1:]) for command in commands_of_block(1)]

    assert [run.code for run in runs] == [0, 0, 0, 0]
    assert (tmp_path / "model.png").exists()
    assert (tmp_path / "predicted.csv").read_text().startswith("dysp,P(no),P(yes)\n")
    assert "anb fcll eap" in runs[2].out
    assert "row 3: P(no)" in runs[3].out
