"""Reads a page with MinerU's official client, unmodified, and prints what it found as JSON.

    pip install mineru-vl-utils
    python test/scripts/mineru_vl_utils_client.py http://127.0.0.1:8000 page.png
"""

import json
import sys

from mineru_vl_utils import MinerUClient
from PIL import Image

server_url, path = sys.argv[1:]
client = MinerUClient(backend="http-client", server_url=server_url, use_tqdm=False)
blocks = client.two_step_extract(Image.open(path))
print(json.dumps([{"type": block.type, "bbox": block.bbox, "content": block.content} for block in blocks]))
