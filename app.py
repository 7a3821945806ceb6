"""Glass Encoder's server: `streamlit run app.py`. What it runs for each visitor is pages/every_page.py."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from pages.ui import server

server.ask_no_stranger()
server.send_whole_pages()
server.run_in_turn()
app = App("pages/every_page.py", middleware=[Middleware(server.Entrance)])
