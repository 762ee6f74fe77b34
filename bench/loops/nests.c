/* Straightforward C versions of the PrimFuncs in loops.cpp, with the same sizes. */
#include "nests.h"

#include <math.h>

#define N 256
void MatrixProduct(const float* restrict a, const float* restrict b, float* restrict c) {
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) c[i * N + j] = 0.0f;
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j) c[i * N + j] += a[i * N + k] * b[k * N + j];
  }
}

void MatrixProductByDots(const float* restrict a, const float* restrict b, float* restrict c) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      c[i * N + j] = 0.0f;
      for (int k = 0; k < N; ++k) c[i * N + j] += a[i * N + k] * b[j * N + k];
    }
}

#define C 32
#define H 56
void Convolution(const float* restrict x, const float* restrict w, float* restrict y) {
  for (int f = 0; f < C; ++f)
    for (int i = 0; i < H; ++i)
      for (int j = 0; j < H; ++j) {
        y[(f * H + i) * H + j] = 0.0f;
        for (int c = 0; c < C; ++c)
          for (int di = 0; di < 3; ++di)
            for (int dj = 0; dj < 3; ++dj)
              y[(f * H + i) * H + j] += x[(c * (H + 2) + i + di) * (H + 2) + j + dj] * w[((f * C + c) * 3 + di) * 3 + dj];
      }
}

#define D 128
void DepthwiseConvolution(const float* restrict x, const float* restrict w, float* restrict y) {
  for (int c = 0; c < D; ++c)
    for (int i = 0; i < H; ++i)
      for (int j = 0; j < H; ++j) {
        y[(c * H + i) * H + j] = 0.0f;
        for (int di = 0; di < 3; ++di)
          for (int dj = 0; dj < 3; ++dj)
            y[(c * H + i) * H + j] += x[(c * (H + 2) + i + di) * (H + 2) + j + dj] * w[(c * 3 + di) * 3 + dj];
      }
}

#define R 512
#define M 512
void Softmax(const float* restrict x, float* restrict y) {
  for (int i = 0; i < R; ++i) {
    float most = -INFINITY;
    for (int j = 0; j < M; ++j) most = most > x[i * M + j] ? most : x[i * M + j];
    float sum = 0.0f;
    for (int j = 0; j < M; ++j) {
      y[i * M + j] = expf(x[i * M + j] - most);
      sum += y[i * M + j];
    }
    for (int j = 0; j < M; ++j) y[i * M + j] = y[i * M + j] / sum;
  }
}

void LayerNorm(const float* restrict x, const float* restrict scale, const float* restrict shift, float* restrict y) {
  for (int i = 0; i < R; ++i) {
    float sum = 0.0f;
    float squares = 0.0f;
    for (int j = 0; j < M; ++j) {
      sum += x[i * M + j];
      squares += x[i * M + j] * x[i * M + j];
    }
    const float mean = sum / M;
    const float factor = 1.0f / sqrtf(squares / M - mean * mean + 1e-5f);
    for (int j = 0; j < M; ++j) y[i * M + j] = (x[i * M + j] - mean) * factor * scale[j] + shift[j];
  }
}

#define T 1024
void Transposition(const float* restrict x, float* restrict y) {
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) y[i * T + j] = x[j * T + i];
}

void Sum(const float* restrict x, float* restrict y) {
  y[0] = 0.0f;
  for (int i = 0; i < T * T; ++i) y[0] += x[i];
}

void Elementwise(const float* restrict x, const float* restrict z, float* restrict y) {
  for (int i = 0; i < T * T; ++i) {
    const float v = x[i] * z[i] + 1.0f;
    y[i] = v > 0.0f ? v : 0.0f;
  }
}
