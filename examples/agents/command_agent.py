"""Any agent that is a command, as a candidate of the provider `external`.

    command = ["python", "command_agent.py", "my-agent", "--images", "{images}"]

The agent's own command follows this file's name. It gets the prompt on its standard input, and the paths of the images
where `{images}` stands, one argument each. What it prints is its answer. The PMIDs and addresses that it names are its
sources; wardround looks PMIDs up in the study's index.
"""

import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PMID = re.compile(r"\bPMID:?\s*(\d{1,8})\b", re.IGNORECASE)
ADDRESS = re.compile(r"https?://[^\s)\]>\"']+")


def main() -> None:
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        images = save_images(request, Path(folder))
        command = [part for word in sys.argv[1:] for part in (images if word == "{images}" else [word])]
        ended = subprocess.run(command, input=request["prompt"], capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{command[0]} ended with {ended.returncode}: {ended.stderr.strip()[-200:]}")
    json.dump({"text": ended.stdout.strip(), "sources": find_sources(ended.stdout)}, sys.stdout)


def save_images(request: dict[str, Any], folder: Path) -> list[str]:
    paths = []
    for number, image in enumerate(request["images"], start=1):
        path = folder / f"image{number}.{image['media_type'].partition('/')[2]}"
        path.write_bytes(base64.b64decode(image["base64"]))
        paths.append(str(path))
    return paths


def find_sources(text: str) -> list[Any]:
    """PMIDs as they are; an address as a source with that title."""
    addresses = [{"title": address, "text": ""} for address in dict.fromkeys(ADDRESS.findall(text))]
    return [*dict.fromkeys(PMID.findall(text)), *addresses]


if __name__ == "__main__":
    main()
