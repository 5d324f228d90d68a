"""`wardround prompts`: our own prompts, with their slots."""

from typing import Annotated, Any

import typer

from wardround.cli.output import Json, print_result
from wardround.core.errors import WardroundError

app = typer.Typer(no_args_is_help=True, help="List and print wardround's own prompts.")


@app.command("list")
def list_prompts(as_json: Json = False) -> None:
    """List the prompts by name, each with its kinds of file."""
    from wardround.asking.prompts import own_prompts

    prompts = own_prompts()
    width = max(map(len, prompts))
    lines = [f"{name:<{width}}  {', '.join(kinds)}" for name, kinds in prompts.items()]
    print_result({"prompts": prompts}, as_json, "\n".join(lines))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME[/KIND]", help="Prompt, such as clinbench or judge/error.")],
    as_json: Json = False,
) -> None:
    """Print a prompt as it is sent, with its slots in braces and what each of them holds."""
    from wardround.asking.prompts import own_prompts

    prompts = own_prompts()
    prompt, _, kind = name.removesuffix(".txt").partition("/")
    kinds = prompts.get(prompt)
    if kinds is None:
        raise WardroundError(f"there is no prompt {prompt!r}; there are {', '.join(prompts)}")
    if kind and kind not in kinds:
        raise WardroundError(f"prompt {prompt!r} has no file {kind!r}; it has {', '.join(kinds)}")
    records = [_record(prompt, kind) for kind in ([kind] if kind else kinds)]
    print_result({"prompts": records}, as_json, "\n\n".join(map(_text, records)))


def _record(prompt: str, kind: str) -> dict[str, Any]:
    from wardround.asking.prompt_slots import SLOT_MEANINGS, parse_prompt, slots_of_kind
    from wardround.asking.prompts import hash_prompt, own_folder

    text = (own_folder() / prompt / f"{kind}.txt").read_text(encoding="utf-8")
    rule, slots = slots_of_kind(kind), parse_prompt(text, kind, kind).slots
    return {
        "name": f"{prompt}/{kind}",
        "text": text,
        "slots": {slot: SLOT_MEANINGS.get(slot, "") for slot in sorted(slots)},
        "needed": list(rule.needed) if rule else [],
        "hash": hash_prompt(text),
    }


def _text(record: dict[str, Any]) -> str:
    slots = [
        f"{{{slot}}}{' (needed)' if slot in record['needed'] else ''}: {meaning}".removesuffix(": ")
        for slot, meaning in record["slots"].items()
    ]
    return "\n".join([f"== {record['name']}.txt", record["text"].rstrip("\n"), "", "-- slots", *slots])
