// What is done to whole rows around the products: norms, activations, sums.
namespace ferrox {
namespace {

inline F load_part(const float* x, int64_t i, int64_t n) {
  return n - i >= 16 ? load_f(x + i) : load_f_n(x + i, static_cast<int>(n - i));
}
inline void store_part(float* out, int64_t i, int64_t n, F v) {
  if (n - i >= 16) {
    store_f(out + i, v);
  } else {
    store_f_n(out + i, v, static_cast<int>(n - i));
  }
}

/// Sum of (x - center)^2 in 16 running sums.
inline float sum_squares(const float* x, float center, int64_t n) {
  F sum = zero_f();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F v = sub(load_f(x + i), set1_f(center));
    sum = fma(v, v, sum);
  }
  float total = hsum(sum);
  for (; i < n; ++i) total = __builtin_fmaf(x[i] - center, x[i] - center, total);
  return total;
}

inline void rms_norm(const float* x, const float* weight, float epsilon, int64_t n, float* out) {
  const float mean = sum_squares(x, 0.0f, n) / static_cast<float>(n);
  const F scale = set1_f(1.0f / __builtin_sqrtf(mean + epsilon));
  for (int64_t i = 0; i < n; i += 16) {
    F v = mul(load_part(x, i, n), scale);
    if (weight != nullptr) v = mul(v, load_part(weight, i, n));
    store_part(out, i, n, v);
  }
}

inline void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, int64_t n, float* out) {
  F sum = zero_f();
  for (int64_t i = 0; i < n; i += 16) sum = add(sum, load_part(x, i, n));
  const float mean = hsum(sum) / static_cast<float>(n);
  const float variance = sum_squares(x, mean, n) / static_cast<float>(n);
  const F scale = set1_f(1.0f / __builtin_sqrtf(variance + epsilon));
  for (int64_t i = 0; i < n; i += 16) {
    F v = mul(sub(load_part(x, i, n), set1_f(mean)), scale);
    if (weight != nullptr) v = mul(v, load_part(weight, i, n));
    if (bias != nullptr) v = add(v, load_part(bias, i, n));
    store_part(out, i, n, v);
  }
}

inline void l2_norm(const float* x, float factor, float epsilon, int64_t n, float* out) {
  const float length = __builtin_sqrtf(sum_squares(x, 0.0f, n));
  const F scale = set1_f(factor / (length < epsilon ? epsilon : length));
  for (int64_t i = 0; i < n; i += 16) store_part(out, i, n, mul(load_part(x, i, n), scale));
}

inline void add_row(const float* x, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, add(load_part(inout, i, n), load_part(x, i, n)));
}

inline void mul_row(const float* x, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, mul(load_part(inout, i, n), load_part(x, i, n)));
}

inline void scale_row(float factor, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, mul(load_part(inout, i, n), set1_f(factor)));
}

inline void add_scaled(const float* x, float factor, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) {
    store_part(inout, i, n, fma(load_part(x, i, n), set1_f(factor), load_part(inout, i, n)));
  }
}

inline void silu_mul(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 16) {
    const F g = load_part(gate, i, n);
    store_part(out, i, n, mul(mul(g, sigmoid(g)), load_part(up, i, n)));
  }
}

/// gelu(x) ~ x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
inline F gelu_lanes(F x) {
  const F cubic = fma(mul(mul(x, x), x), set1_f(0.044715f), x);
  return mul(mul(x, set1_f(0.5f)), add(set1_f(1.0f), tanh(mul(cubic, set1_f(0.79788456f)))));
}

inline void gelu_mul(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 16) {
    store_part(out, i, n, mul(gelu_lanes(load_part(gate, i, n)), load_part(up, i, n)));
  }
}

inline void gelu(int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, gelu_lanes(load_part(inout, i, n)));
}

/// The bound comes first, so that a NaN stays one in every instruction set.
inline F clamp_lanes(F x, float limit) { return min_f(set1_f(limit), max_f(set1_f(-limit), x)); }

inline void clamped_silu_mul(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 16) {
    const F g = min_f(set1_f(7.0f), load_part(gate, i, n));
    const F u = clamp_lanes(load_part(up, i, n), 7.0f);
    store_part(out, i, n, mul(mul(g, sigmoid(mul(g, set1_f(1.702f)))), add(u, set1_f(1.0f))));
  }
}

inline void silu_row(int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) {
    const F x = load_part(inout, i, n);
    store_part(inout, i, n, mul(x, sigmoid(x)));
  }
}

inline void sigmoid_row(int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, sigmoid(load_part(inout, i, n)));
}

inline void softplus_row(int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, softplus(load_part(inout, i, n)));
}

/// The bound comes first, so that a NaN stays one in every instruction set.
inline void relu_squared(int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) {
    const F x = max_f(zero_f(), load_part(inout, i, n));
    store_part(inout, i, n, mul(x, x));
  }
}

inline void soft_cap(float cap, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) {
    store_part(inout, i, n, mul(tanh(div(load_part(inout, i, n), set1_f(cap))), set1_f(cap)));
  }
}

inline void clamp_row(float limit, int64_t n, float* inout) {
  for (int64_t i = 0; i < n; i += 16) store_part(inout, i, n, clamp_lanes(load_part(inout, i, n), limit));
}

inline void softmax(int64_t n, float* inout) {
  F top = set1_f(-__builtin_inff());
  for (int64_t i = 0; i < n; ++i) top = max_f(top, set1_f(inout[i]));
  F sum = zero_f();
  for (int64_t i = 0; i < n; i += 16) {
    const F e = exp(sub(load_part(inout, i, n), top));
    store_part(inout, i, n, e);
    sum = add(sum, load_part(inout, i, n));  // read back, so that lanes past the end add nothing
  }
  scale_row(1.0f / hsum(sum), n, inout);
}

}  // namespace
}  // namespace ferrox
