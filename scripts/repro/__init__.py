"""The papers' experiments. What bench/ knows of FiLiP's programs is used here, too."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
