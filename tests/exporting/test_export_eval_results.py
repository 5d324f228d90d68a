"""`.eval_results`: the Hub's own package reads the entries; scores and intervals are those of measures.csv."""

from __future__ import annotations

import json
import shutil

import yaml
from exam_study import wardround

# looked up 2026-11-18; the Hub refuses other fields
FIELDS, DATASET_FIELDS = {"dataset", "value", "date", "notes"}, {"id", "task_id", "revision"}


def test_the_hubs_package_reads_the_scores(exam_run, tmp_path):
    """Of `weak` 4 of 8 clusters are right: 50%, Wilson's interval 0.209382852 to 0.790617148."""
    from huggingface_hub import parse_eval_result_entries

    result = wardround(
        "export", exam_run, "--to", "eval-results", "--dataset", "ward/exam", "--out", "out", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    entries = {}
    for candidate in ("strong", "weak"):
        data = yaml.safe_load((tmp_path / "out" / candidate / ".eval_results" / "exam_accuracy.yaml").read_text())
        assert (len(data), data[0].keys() <= FIELDS, data[0]["dataset"].keys() <= DATASET_FIELDS) == (1, True, True)
        (entries[candidate],) = parse_eval_result_entries(data)
    assert {name: entry.value for name, entry in entries.items()} == {"strong": 100.0, "weak": 50.0}
    assert (entries["weak"].dataset_id, entries["weak"].task_id) == ("ward/exam", "default")
    assert "95% interval 20.9383 to 79.0617 (wilson); n = 16; 8 clusters" in entries["weak"].notes
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["study"]["name"] == "exam"


def test_a_set_of_the_hub_names_itself(exam_run, tmp_path):
    run = shutil.copytree(exam_run, tmp_path / "run")
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["cases"]["source"] = {"hub": {"repo": "ward/set", "commit": "0a1b"}}
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert wardround("export", run, "--to", "eval-results", "--out", "out", cwd=tmp_path).returncode == 0
    (entry,) = yaml.safe_load((tmp_path / "out/weak/.eval_results/exam_accuracy.yaml").read_text())
    assert entry["dataset"] == {"id": "ward/set", "task_id": "default", "revision": "0a1b"}


def test_what_cannot_be_named_is_refused_in_one_line(exam_run, tmp_path):
    for arguments, problem in (
        (("--to", "eval-results"), "--dataset OWNER/NAME"),
        (("--to", "eval-results", "--dataset", "no owner"), "expected OWNER/NAME"),
        (("--to", "hf", "--dataset", "a/b"), "--dataset is for eval-results"),
    ):
        result = wardround("export", exam_run, *arguments, "--out", "out", cwd=tmp_path)
        assert (result.returncode, result.stderr.count("\n"), list(tmp_path.iterdir())) == (1, 1, [])
        assert problem in result.stderr
