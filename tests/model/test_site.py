"""`make site`: a reason is given for what cannot be written, and nothing is written then."""

import sys
from pathlib import Path

import pytest

from model.overview.site.__main__ import main
from tests.model.making import theirs


def test_what_cannot_be_read_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # without npm
    sentences = ("good", "the cat sat"), ("other", "我爱你"), ("empty", " \n\n"), ("latin", "caf\xe9")
    files = {name: tmp_path / name for name, _ in sentences}
    for name, text in sentences:
        files[name].write_text(text, "latin-1" if name == "latin" else "utf-8")
    small, sees = (str(theirs(name)[1]) for name in ("BertForMaskedLM", "ViTForImageClassification"))
    for runs, file, said in (
        ([small], files["good"], "npm is needed"),
        (["no folder"], files["good"], "no folder"),
        ([str(tmp_path)], files["good"], "config.json"),
        ([small, sees], files["good"], "reads pictures"),
        ([small], files["other"], "cannot read “我爱你”"),
        ([small], files["empty"], "no sentence"),
        ([small], files["latin"], "UTF-8"),
        ([small], tmp_path, "UTF-8"),
        ([small], tmp_path / "missing", "UTF-8"),
        ([], files["good"], "go together"),
    ):
        names = ["--runs", *runs] if runs else []
        monkeypatch.setattr(sys, "argv", ["site", str(tmp_path / "site"), *names, "--sentences", str(file)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert said in str(ended.value) and "\n" not in str(ended.value)
        assert not (tmp_path / "site").exists()
