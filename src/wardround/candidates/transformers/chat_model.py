"""A model with its processor and chat template: what goes in and what comes out, without any batching."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

import torch
from PIL import Image

from wardround.asking.reasoning import ReasoningTag, reasoning_tags
from wardround.candidates.text_logprobs import shared_start
from wardround.candidates.transformers.grouped_attention import use_grouped_attention
from wardround.candidates.transformers.job import ChatTurn, Job, JobFailure, ModelPlan, ModelProblem

THINKING_SWITCHES = ("enable_thinking", "thinking")  # the variables by which chat templates switch reasoning
BATCHED_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
TAIL_TOKENS = 12  # at the end of a prompt, in which a tag of reasoning may be open


@dataclass(frozen=True)
class PromptFeatures:
    """A prompt as the model reads it: token ids and whatever the processor makes of the images."""

    inputs: dict[str, Any]
    tokens: int
    opening: str = ""  # the tag of reasoning that the prompt opens
    begin: int = 0  # the first token of a scored text


@dataclass(frozen=True)
class PromptState:
    """The model after it has read a prompt: its cache, the next token's logits and the latest position ids."""

    cache: Any
    logits: torch.Tensor  # [vocabulary]
    position: list[int]  # on each axis of the model's position ids


class ChatModel:
    """A model in memory. `processor` is a tokenizer if the model has no images."""

    def __init__(self, model: Any, processor: Any, plan: ModelPlan, *, sees: bool) -> None:
        self.model = model.eval()
        self.name = plan.name
        self._processor, self._plan, self._sees = processor, plan, sees
        self.tokenizer = processor.tokenizer if hasattr(processor, "tokenizer") else processor
        self._config = model.config.get_text_config()
        self._check()
        use_grouped_attention(model)
        self.context: int = min(filter(None, (plan.context, getattr(self._config, "max_position_embeddings", None))))
        self._forward_names = set(inspect.signature(model.forward).parameters)

    def _check(self) -> None:
        other_layers = set(getattr(self._config, "layer_types", None) or ()) - BATCHED_LAYERS
        if self.model.config.is_encoder_decoder or hasattr(self._config, "cross_attention_layers"):
            raise ModelProblem(f"{self.name} is not a decoder alone; serve it and use provider openai")
        if other_layers:
            kinds = ", ".join(sorted(other_layers))
            raise ModelProblem(f"{self.name} has layers that keep other states than keys and values ({kinds})")
        if not self._template:
            raise ModelProblem(f"{self.name} has no chat template")

    @property
    def device(self) -> Any:
        return self.model.device

    @cached_property
    def _template(self) -> str:
        return str(getattr(self._processor, "chat_template", None) or self.tokenizer.chat_template or "")

    @cached_property
    def end_tokens(self) -> set[int]:
        """The tokens that end a reply."""
        stated = getattr(self.model.generation_config, "eos_token_id", None)
        ends = set(stated) if isinstance(stated, list) else {stated}
        return {int(token) for token in ends | {self.tokenizer.eos_token_id} if token is not None}

    @cached_property
    def _left_out(self) -> set[int]:
        """Special tokens that are no text; tags of reasoning are."""
        special = {number for number, token in self.tokenizer.added_tokens_decoder.items() if token.special}
        special |= {*self.tokenizer.all_special_ids}
        texts = {number: self.tokenizer.convert_ids_to_tokens(number) for number in special}
        return self.end_tokens | {number for number, text in texts.items() if not any(reasoning_tags(text))}

    def features(self, job: Job) -> PromptFeatures | JobFailure:
        """The prompt of a job on the CPU, or why it cannot be asked."""
        if job.scored is not None:
            features = self._scored_features(*job.scored)
            if features.begin == 0:
                return JobFailure("rejected", "the model reads no token before the text")
        else:
            switches = [name for name in THINKING_SWITCHES if name in self._template]
            if job.reasoning is not None and not switches:
                return JobFailure("unsupported", "the chat template has no switch of reasoning (enable_thinking)")
            variables = {} if job.reasoning is None else dict.fromkeys(switches, job.reasoning)
            features = self._chat_features(job, self._plan.template | variables)
        if features.tokens + (job.scored is None) > self.context:
            message = f"the prompt has {features.tokens} tokens, but the model's context holds {self.context}"
            return JobFailure("too_long", message)
        return features

    def _chat_features(self, job: Job, variables: dict[str, Any]) -> PromptFeatures:
        inputs = self._processor.apply_chat_template(
            [self._message(turn) for turn in job.turns],
            tools=list(job.tools) or None,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": self._plan.processor} if self._sees and self._plan.processor else {}),
            **variables,
        )
        tokens = inputs["input_ids"].shape[1]
        tail = self.tokenizer.decode(inputs["input_ids"][0, -TAIL_TOKENS:], skip_special_tokens=False).rstrip()
        return PromptFeatures(dict(inputs), tokens, _open_tag(tail))

    def _message(self, turn: ChatTurn) -> dict[str, Any]:
        if not self._sees:
            return {"role": turn.role, "content": "\n\n".join(part for part in turn.parts if isinstance(part, str))}
        content = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image", "image": Image.open(BytesIO(part)).convert("RGB")}
            for part in turn.parts
        ]
        return {"role": turn.role, "content": content}

    def _scored_features(self, prompt: str, whole: str) -> PromptFeatures:
        before = self.tokenizer(prompt)["input_ids"]
        inputs = dict(self.tokenizer(whole, return_tensors="pt"))
        ids = inputs["input_ids"]
        inputs = {"input_ids": ids, "attention_mask": inputs["attention_mask"]}
        return PromptFeatures(inputs, ids.shape[1], begin=shared_start(before, ids[0].tolist()))

    def read(self, features: PromptFeatures) -> PromptState:
        """Reads a whole prompt."""
        from transformers import DynamicCache

        inputs = self._on_device(features)
        position_ids = self.model._prepare_position_ids_for_generation(inputs["input_ids"], dict(inputs))
        if "position_ids" in self._forward_names:
            inputs["position_ids"] = position_ids
        inputs.pop("attention_mask", None)  # nothing is padded
        # without the configuration every layer keeps all keys: windows are in the masks
        output = self.model(**inputs, past_key_values=DynamicCache(), use_cache=True, **self._last_only(1))
        last = position_ids[..., -1].flatten().tolist()
        return PromptState(output.past_key_values, output.logits[0, -1], last)

    def read_next(self, tokens: Sequence[int], positions: Sequence[Sequence[int]], cache: Any) -> torch.Tensor:
        """Reads one more token of every row of a cache, and returns the logits of the tokens after them."""
        ids = torch.tensor(tokens, device=self.device)[:, None]
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": cache.mask()}
        if "position_ids" in self._forward_names:
            by_axis = torch.tensor(positions, device=self.device).T[..., None]
            inputs["position_ids"] = by_axis[0] if len(by_axis) == 1 else by_axis
        output = self.model(**inputs, past_key_values=cache, use_cache=True, **self._last_only(1))
        return output.logits[:, -1]

    def score(self, features: PromptFeatures) -> tuple[float, int]:
        """The log-likelihood of a text after its prompt, and its number of tokens."""
        inputs = self._on_device(features)
        text = inputs["input_ids"][0, features.begin :]
        output = self.model(**inputs, use_cache=False, **self._last_only(len(text) + 1))
        logprobs = output.logits[0, -len(text) - 1 : -1].float().log_softmax(-1)
        return float(logprobs.gather(-1, text[:, None]).double().sum()), len(text)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of a reply, without the tokens that end it."""
        return str(self.tokenizer.decode([token for token in tokens if token not in self._left_out]))

    def alternatives(self, logits: torch.Tensor, count: int) -> tuple[tuple[str, float], ...]:
        """The likeliest tokens and their log-probabilities: temperature 1, nothing filtered."""
        values, tokens = logits.float().log_softmax(-1).topk(min(count, logits.shape[-1]))
        texts = self.tokenizer.batch_decode(tokens[:, None], skip_special_tokens=True)
        return tuple(zip(texts, values.tolist(), strict=True))

    def _on_device(self, features: PromptFeatures) -> dict[str, Any]:
        dtype = self.model.dtype
        return {
            name: value.to(self.device, dtype if value.is_floating_point() else None)
            for name, value in features.inputs.items()
            if isinstance(value, torch.Tensor)
        }

    def _last_only(self, count: int) -> dict[str, int]:
        """Logits of the last places only, if the model can: those of a whole prompt are gigabytes."""
        return {"logits_to_keep": count} if "logits_to_keep" in self._forward_names else {}


def _open_tag(tail: str) -> str:
    """The tag of reasoning at the very end of a prompt."""
    *_, last = [None, *reasoning_tags(tail)]
    if isinstance(last, ReasoningTag) and not last.is_closing and last.end == len(tail):
        return tail[last.start : last.end]
    return ""
