"""A small corpus, used for the mean of a quantity."""

import numpy as np
from safetensors.numpy import load_file

from model.files import WEIGHTS, intact

#: Short sentences of many kinds, with their translations.
SENTENCES = (
    ("i love you .", "我爱你。"),
    ("the cat is sleeping on the table .", "猫在桌子上睡觉。"),
    ("where is the station ?", "车站在哪里？"),
    ("she gave him a book yesterday .", "她昨天给了他一本书。"),
    ("it is very cold today .", "今天很冷。"),
    ("my father works in a bank .", "我爸爸在银行工作。"),
    ("the children are playing in the park .", "孩子们在公园里玩。"),
    ("do you want to drink some tea ?", "你想喝点茶吗？"),
    ("he did not come because he was sick .", "他因为生病没有来。"),
    ("we will go to the city tomorrow .", "我们明天去城里。"),
    ("the old man walked slowly along the river .", "老人沿着河慢慢地走。"),
    ("nobody knows what happened .", "没有人知道发生了什么。"),
    ("this house is bigger than that one .", "这座房子比那座大。"),
    ("the teacher told us an interesting story .", "老师给我们讲了一个有趣的故事。"),
    ("i have never seen so many people .", "我从来没有见过这么多人。"),
    ("if it rains , we will stay at home .", "如果下雨，我们就待在家里。"),
    ("how much does this cost ?", "这个多少钱？"),
    ("two dogs chased the small cat .", "两只狗追那只小猫。"),
    ("please open the window .", "请打开窗户。"),
    ("they bought a new car last week .", "他们上星期买了一辆新车。"),
)

#: Sentences offered for selection, by language.
READY = {
    "en": (
        "the animal did not cross the street because it was too tired .",
        "i love you .",
        "the cat sat on the [MASK] .",
        "she sat by the river bank .",
        "he put the money in the bank .",
        "the dog chased the cat .",
        "the cat chased the dog .",
        "the unhappy children were playing .",
    ),
    "zh": (
        "今天天气很好，我们去公园玩吧。",
        "我爱你。",
        "你爱我。",
        "今天天气很[MASK]。",
        "我[MASK]你。",
        "他在银行工作。",
        "妈妈说她很喜欢这本书。",
        "我喜欢吃苹果。",
        "他用手机打电话。",
        "我 love 你 .",
    ),
}

#: Proteins, a letter per amino acid: the two chains of human insulin (one with a mask), glucagon and ubiquitin.
PROTEINS = (
    "FVNQHLCGSHLVEALYLVCGERGFFYTPKT",
    "GIVEQCCTSICSLYQLENYCN",
    "FVNQHL[MASK]GSHLVEALYLVCGERGFFYTPKT",
    "HSQGTFTSDYSKYLDSRRAQDFVQWLMNT",
    "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG",
)


def digits() -> np.ndarray:
    """Two pictures of each digit, from the test set of MNIST: (20, 28, 28) floats in [0, 1], ink bright."""
    return load_file(intact(WEIGHTS / "examples.safetensors"))["digits"].astype(np.float32) / 255
