"""The floor that a page is compared with: a slider, a row of buttons, as many heatmaps as large, and nothing else."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

layer, token = st.slider("Layer", 1, 4, key="layer"), st.pills("Token", range(10), key="chips")
rows, columns = int(st.query_params["rows"]), int(st.query_params["columns"])
for number in range(int(st.query_params["charts"])):
    weights = np.random.default_rng((layer, token or 0, number)).random((rows, columns), dtype=np.float32)
    st.plotly_chart(go.Figure(go.Heatmap(z=weights)), key=f"chart {number}")
