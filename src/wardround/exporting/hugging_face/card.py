"""The card of a dataset: README.md with the YAML that the Hub reads."""

from collections.abc import Mapping

import orjson


def card(name: str, files: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """The card. The licence is the author's to name: a case set does not say under which it may be published."""
    lines = ["---", f"pretty_name: {quoted(name)}", "license: other", "license_name: not-stated"]
    lines += ["task_categories:", "- visual-question-answering", "tags:", "- medical", "- wardround"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split, file in files.items():
        lines += [f"  - split: {quoted(split)}", f"    path: {quoted(file)}"]
    rows = [f"| {split} | {count} |" for split, count in counts.items()]
    return "\n".join(
        [
            *lines,
            "---",
            "",
            f"# {name}",
            "",
            "A case set for wardround, a row per case. The column `case` holds the whole case as JSON, with right "
            "answers; `images` the files as they are. DICOM and NIfTI files are there as a model is shown them, and "
            "as they are in `originals`.",
            "",
            "The licence is not stated. Name it above before you publish this, and publish only what its sources and "
            "the patients' consent allow.",
            "",
            "| split | cases |",
            "|---|---|",
            *rows,
            "",
            "Back to a case set: `wardround cases convert THIS_FOLDER --from hf-export --out DIR`.",
            "",
        ]
    )


def quoted(text: str) -> str:
    return orjson.dumps(text).decode()  # a JSON text is a YAML text
