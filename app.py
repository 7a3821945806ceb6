"""Glass Encoder: starts the server, and draws for each visitor the frame that every page shares, then the page."""

from streamlit.runtime.scriptrunner import get_script_run_ctx

if get_script_run_ctx(suppress_warning=True):
    from pages.ui.frame import frame

    frame()
else:
    from starlette.middleware import Middleware
    from streamlit.starlette import App

    from pages.ui import server

    server.ask_no_stranger()
    server.name_the_pages_ourselves()
    server.send_whole_pages()
    server.run_in_turn()
    app = App(__file__, middleware=[Middleware(server.Entrance)])
