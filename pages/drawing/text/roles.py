"""What a head does, measured over a corpus, in words, with the share of places in which it does."""

from model.measures.tables import Role
from pages.drawing.text import catalogue, language, plain
from pages.drawing.text.numbers import percent


def role_in_words(role: Role) -> str:
    """ "attends to the next piece, in 97 % of places"; a relation with both its ends and its direction."""
    relation = role.relation and relation_in_words(role.relation)
    does = plain(f"roles.{role.direction if relation else role.name}", relation=relation)
    return plain("roles.role", role=does, share=percent(role.share))


def measured_role(role: Role) -> str:
    """The role of a head, or a text that says that it has no clear one."""
    return role_in_words(role) if role.clear else plain("roles.unclear")


def relation_in_words(relation: str) -> str:
    """A school name for a relation of Universal Dependencies; the relation itself if there is none."""
    words = catalogue(language())
    return words.get(f"roles.relation.{relation.replace(':', '_')}", relation)
