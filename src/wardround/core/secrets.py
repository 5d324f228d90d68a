"""What looks like a secret, by its name or by its value. Guesses: they decide what a study may not contain in clear."""

import re

NAMES = {
    *("secret", "password", "passwd", "passphrase", "credential", "credentials", "authorization", "bearer", "cookie"),
    *("token", "apikey", "apitoken", "accesstoken", "authtoken", "sig", "signature", "auth", "jwt"),
}
KEYS = {"api", "access", "private", "subscription", "account", "auth", "license", "master", "shared", "service"}
# `eos_token` and the like are words of a model's vocabulary
VOCABULARY = {"bos", "eos", "pad", "unk", "sep", "cls", "mask", "start", "end", "stop", "image", "special", "think"}
KNOWN_SECRET = re.compile(
    r"(?:bearer|basic|token|apikey)\s+\S+"
    r"|sk[-_][\w-]{8,}"
    r"|(?:pk|rk|gsk|xai|pplx|tgp|nvapi|glpat|fw|csk|r8|hf|npm|gh[opsu]|github_pat|xox[abps])[-_](?=[\w-]*\d)[\w-]{16,}"
    r"|AKIA[0-9A-Z]{12,}|AIza[\w-]{16,}|eyJ[\w-]{8,}\.[\w.-]+|-----BEGIN [A-Z ]*PRIVATE KEY.*",
    re.IGNORECASE | re.DOTALL,
)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MIN_RANDOM = 20  # characters of a run of letters and digits that may be random
MIN_CHANGES = 4  # between letters and digits, or between cases, in such a run


def has_secret_name(name: str) -> bool:
    """Whether a value under this name is a secret: api_key, X-Auth-Token, sig. `max_tokens` and `eos_token` are not."""
    words = _words(name)
    if not NAMES.isdisjoint(words):
        return not (words[-1:] == ["token"] and not VOCABULARY.isdisjoint(words) and len(words) == 2)
    singular = [word.removesuffix("s") for word in words]
    return singular == ["key"] or (singular[-1:] == ["key"] and not KEYS.isdisjoint(words))


def is_known_secret(value: str) -> bool:
    """Whether a value has the form of a key: `sk-...`, `Bearer ...`, a JSON web token."""
    return KNOWN_SECRET.fullmatch(value.strip().lstrip("$")) is not None


def looks_random(value: str) -> bool:
    """Whether a value is one long string in which letters, digits and cases change as if by chance."""
    if re.search(r"\s", value.strip()):
        return False
    if re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value.strip()):
        return True
    return any(_changes(run) >= MIN_CHANGES for run in re.findall(r"[A-Za-z0-9+/=]+", value) if len(run) >= MIN_RANDOM)


def is_secret_value(value: str) -> bool:
    """Whether a value is a secret by itself, whatever its name is."""
    return is_known_secret(value) or looks_random(value)


def is_variable_name(text: str) -> bool:
    """Whether a text can be the name of an environment variable and is not a key that was pasted in its place."""
    is_hexadecimal = re.fullmatch(r"[0-9a-f]{20,}", text) is not None
    return VARIABLE.fullmatch(text) is not None and not is_secret_value(text) and not is_hexadecimal


def _words(name: str) -> list[str]:
    """The words of a name: `X-Api-Key`, `api_key` and `apiKey` have the same last two."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name).lower().split()


def _changes(run: str) -> int:
    """Changes between letters and digits, and from small letters to capitals."""
    return len(re.findall(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])", run))
