"""What is written for others computes the same in their hands."""

from pathlib import Path

import numpy as np
import torch
import transformers

from model import load
from model.export import as_marian
from tests.networks import pipeline

SENTENCES = ("我爱你。", "the cat sleeps .", "She didn't see the Ａ dog", "今天天气很好。")


def test_their_library_reads_our_translator_and_computes_the_same(tmp_path: Path) -> None:
    ours = load("translation")
    as_marian(ours, tmp_path / "marian")
    theirs, said = transformers.MarianMTModel.from_pretrained(tmp_path / "marian", output_loading_info=True)
    assert not (said["missing_keys"] or said["unexpected_keys"] or said["mismatched_keys"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "marian")
    for sentence in SENTENCES:
        trace = ours(sentence)
        read = tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        assert read["input_ids"][0].tolist() == trace.ids
        with torch.no_grad():
            logits = theirs(**read, decoder_input_ids=torch.tensor([trace.target_ids])).logits[0]
        np.testing.assert_allclose(logits[:, : ours.config.vocab_size], trace["logits"], atol=5e-5)
        beginning = {"decoder_start_token_id": trace.target_ids[0], "max_length": ours.config.max_len}
        written = theirs.generate(**read, **beginning, num_beams=1, do_sample=False)
        assert written[0, 1:].tolist() == list(trace.greedy.ids)
        assert tokenizer.decode(written[0, :1]) == trace.target_tokens[0]


def test_an_encoder_leaves_python_with_sentences_of_any_length(tmp_path: Path) -> None:
    of, longest = pipeline("tags"), pipeline("tags").config.max_len
    lengths = ({1: torch.export.Dim("length", min=2, max=longest)},)
    program = torch.export.export(of.network, (torch.arange(5)[None],), dynamic_shapes=lengths)
    torch.export.save(program, tmp_path / "encoder.pt2")
    elsewhere = torch.export.load(tmp_path / "encoder.pt2").module()
    for length in (2, 7, longest):
        ids = torch.arange(length)
        np.testing.assert_allclose(elsewhere(ids[None])[0].detach(), of(ids.tolist())["tags"], atol=1e-5)
