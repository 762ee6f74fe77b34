#!/usr/bin/env python3
"""Writes the model of a file in ONNX's text format: onnx_model.py IN OUT.onnx. Needs the Python package onnx."""
import sys

import onnx
import onnx.parser


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    onnx.save(onnx.parser.parse_model(text), target)


if __name__ == "__main__":
    main()
