"""python -m model.hugging_face NAME: see hub.py. It has a file of its own, as `model` itself imports that one."""

from model.hugging_face.hub import main

main()
