/* Loop nests in C, see nests.c. */
#pragma once

#ifdef __cplusplus
extern "C" {
#define restrict __restrict
#endif

void MatrixProduct(const float* restrict a, const float* restrict b, float* restrict c);
void MatrixProductByDots(const float* restrict a, const float* restrict b, float* restrict c);
void Convolution(const float* restrict x, const float* restrict w, float* restrict y);
void DepthwiseConvolution(const float* restrict x, const float* restrict w, float* restrict y);
void Softmax(const float* restrict x, float* restrict y);
void LayerNorm(const float* restrict x, const float* restrict scale, const float* restrict shift, float* restrict y);
void Transposition(const float* restrict x, float* restrict y);
void Sum(const float* restrict x, float* restrict y);
void Elementwise(const float* restrict x, const float* restrict z, float* restrict y);

#ifdef __cplusplus
#undef restrict
}
#endif
