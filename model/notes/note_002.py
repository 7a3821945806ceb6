"""The code of lecture note 002, without its comments. Where the note leaves d_ff at 2048, a layer is told here."""

import copy
import math

import torch
from torch import Tensor, nn


class Embeddings(nn.Module):
    def __init__(self, d_model: int, vocab: int) -> None:
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model

    def forward(self, x: Tensor) -> Tensor:
        return self.lut(x) * math.sqrt(self.d_model)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000) -> None:
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        pe = pe.unsqueeze(0)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pe[:, : x.size(1)]
        return x


class MultiHeadAttention(nn.Module):
    def __init__(self, heads: int, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.h = heads
        self.d_k = d_model // heads

        self.q_linear = nn.Linear(d_model, d_model)
        self.k_linear = nn.Linear(d_model, d_model)
        self.v_linear = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        bs = q.size(0)

        k = self.k_linear(k)
        q = self.q_linear(q)
        v = self.v_linear(v)

        k = k.view(bs, -1, self.h, self.d_k).transpose(1, 2)
        q = q.view(bs, -1, self.h, self.d_k).transpose(1, 2)
        v = v.view(bs, -1, self.h, self.d_k).transpose(1, 2)

        scores = torch.matmul(q, k.transpose(-2, -1))
        scores = scores / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        attn = torch.softmax(scores, dim=-1)
        output = torch.matmul(attn, v)

        output = output.transpose(1, 2).contiguous().view(bs, -1, self.d_model)
        output = self.out(output)
        return output


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int = 2048) -> None:
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(0.1)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = self.dropout(torch.relu(self.linear1(x)))
        x = self.linear2(x)
        return x


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int = 2048) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(heads, d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        residual = x
        x = self.self_attn(x, x, x, mask)
        x = self.dropout(x)
        x = self.norm1(x + residual)

        residual = x
        x = self.feed_forward(x)
        x = self.dropout(x)
        x = self.norm2(x + residual)
        return x


def clones(module: nn.Module, N: int) -> nn.ModuleList:
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class Encoder(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, N: int, heads: int) -> None:
        super().__init__()
        self.embed = Embeddings(d_model, vocab_size)
        self.pe = PositionalEncoding(d_model)
        self.layers = clones(EncoderLayer(d_model, heads), N)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, src: Tensor, mask: Tensor | None) -> Tensor:
        x = self.embed(src)
        x = self.pe(x)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


def test() -> list[str]:
    vocab_size = 1000
    d_model = 512
    heads = 8
    N = 6
    model = Encoder(vocab_size, d_model, N, heads)
    src = torch.randint(0, vocab_size, (2, 10))
    output = model(src, None)
    return [f"输入形状: {src.shape}", f"输出形状: {output.shape}"]
