// How do recurrent layers walk through the rows of a sequence? Row by row, in one order; lanes are channels, so that no
// sum crosses them and threads may share out channels.
namespace ferrox {
namespace {

inline void find_decays(float bias, float rate, int64_t n, float* steps, float* decays) {
  for (int64_t i = 0; i < n; i += 16) {
    const F step = softplus(add(load_part(steps, i, n), set1_f(bias)));
    store_part(steps, i, n, step);
    store_part(decays, i, n, exp(mul(step, set1_f(rate))));
  }
}

/// Row `row` of what is convolved: those before 0 lie in the tail.
inline const float* convolved_row(const ConvolutionArgs& args, int64_t row) {
  return row < 0 ? args.tail + (row + args.n_taps - 1) * args.channel_stride : args.x + row * args.x_stride;
}

inline F convolve_lanes(const ConvolutionArgs& args, int64_t row, int64_t channel) {
  const int64_t n = args.n_channels;
  F sum = args.bias != nullptr ? load_part(args.bias, channel, n) : zero_f();
  for (int64_t tap = 0; tap < args.n_taps; ++tap) {
    const F x = load_part(convolved_row(args, row + tap - (args.n_taps - 1)), channel, n);
    sum = fma(x, load_part(args.weights + tap * args.channel_stride, channel, n), sum);
  }
  return sum;
}

inline void convolve(const ConvolutionArgs& args) {
  for (int64_t row = 0; row < args.n_rows; ++row) {
    float* out = args.out + row * args.out_stride;
    for (int64_t channel = 0; channel < args.n_channels; channel += 16) {
      store_part(out, channel, args.n_channels, convolve_lanes(args, row, channel));
    }
  }
  for (int64_t i = 0; i + 1 < args.n_taps; ++i) {  // ascending: what is still to be read lies behind
    const float* row = convolved_row(args, args.n_rows - (args.n_taps - 1) + i);
    __builtin_memcpy(args.tail + i * args.channel_stride, row, static_cast<size_t>(args.n_channels) * 4);
  }
}

/// All rows through kStates states of 16 channels, which stay in registers. The first states begin the sums in `out`,
/// the others go on with them.
template <int kStates>
inline void scan_states(const ScanArgs& args, int64_t channel, int64_t first_state) {
  float* stored = args.state + (channel * args.n_states) + first_state * 16;
  F state[kStates];
  for (int i = 0; i < kStates; ++i) state[i] = load_f(stored + 16 * i);
  for (int64_t row = 0; row < args.n_rows; ++row) {
    const float* b = args.b + row * args.bc_stride + first_state;
    const float* c = args.c + row * args.bc_stride + first_state;
    float* out = args.out + row * args.out_stride;
    const F x = load_part(args.x + row * args.x_stride, channel, args.n_channels);
    const F input = mul(x, set1_f(args.steps[row]));
    const F decay = set1_f(args.decays[row]);
    F sum = first_state == 0 ? mul(x, set1_f(args.skip)) : load_part(out, channel, args.n_channels);
    for (int i = 0; i < kStates; ++i) {
      state[i] = fma(input, set1_f(b[i]), mul(state[i], decay));
      sum = fma(state[i], set1_f(c[i]), sum);
    }
    store_part(out, channel, args.n_channels, sum);
  }
  for (int i = 0; i < kStates; ++i) store_f(stored + 16 * i, state[i]);
}

inline void scan(const ScanArgs& args) {
  for (int64_t channel = 0; channel < args.n_channels; channel += 16) {
    int64_t state = 0;
    for (; state + kScannedStates <= args.n_states; state += kScannedStates) {
      scan_states<kScannedStates>(args, channel, state);
    }
    for (; state < args.n_states; ++state) scan_states<1>(args, channel, state);
  }
}

/// All rows through one state of 16 channels of Mamba 1.
inline void scan_channel_state(const ChannelScanArgs& args, int64_t channel, int64_t index) {
  const int64_t at = channel * args.n_states + index * 16;
  F state = load_f(args.state + at);
  const F rate = load_f(args.rates + at);
  for (int64_t row = 0; row < args.n_rows; ++row) {
    float* out = args.out + row * args.out_stride;
    const F x = load_part(args.x + row * args.x_stride, channel, args.n_channels);
    const F step = load_part(args.steps + row * args.steps_stride, channel, args.n_channels);
    const F begun =
        index == 0 ? mul(x, load_part(args.skip, channel, args.n_channels)) : load_part(out, channel, args.n_channels);
    const F input = mul(mul(x, step), set1_f(args.b[row * args.bc_stride + index]));
    state = fma(state, exp(mul(step, rate)), input);
    store_part(out, channel, args.n_channels, fma(state, set1_f(args.c[row * args.bc_stride + index]), begun));
  }
  store_f(args.state + at, state);
}

inline void scan_channels(const ChannelScanArgs& args) {
  for (int64_t channel = 0; channel < args.n_channels; channel += 16) {
    for (int64_t index = 0; index < args.n_states; ++index) scan_channel_state(args, channel, index);
  }
}

/// Sums along a state's rows are taken in four parts, row i in part i % 4, so that additions needn't wait for each
/// other.
inline F join_parts(const F (&parts)[4]) { return add(add(parts[0], parts[1]), add(parts[2], parts[3])); }

/// sum over i of state[i] * k[i], for 16 channels.
inline F recall(const float* state, const float* k, int64_t n) {
  F parts[4] = {zero_f(), zero_f(), zero_f(), zero_f()};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) parts[j] = fma(load_f(state + 16 * (i + j)), set1_f(k[i + j]), parts[j]);
  }
  for (int j = 0; i + j < n; ++j) parts[j] = fma(load_f(state + 16 * (i + j)), set1_f(k[i + j]), parts[j]);
  return join_parts(parts);
}

/// state[i] = decay * state[i] + change * k[i], and the sum over i of the new state[i] * q[i].
inline F learn(float* state, F decay, F change, const float* k, const float* q, int64_t n) {
  const auto step = [&](int64_t i, F sum) {
    const F learned = fma(change, set1_f(k[i]), mul(load_f(state + 16 * i), decay));
    store_f(state + 16 * i, learned);
    return fma(learned, set1_f(q[i]), sum);
  };
  F parts[4] = {zero_f(), zero_f(), zero_f(), zero_f()};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) parts[j] = step(i + j, parts[j]);
  }
  for (int j = 0; i + j < n; ++j) parts[j] = step(i + j, parts[j]);
  return join_parts(parts);
}

inline void delta_rule(const DeltaRuleArgs& args) {
  for (int64_t channel = 0; channel < args.v_dim; channel += 16) {
    float* state = args.state + channel * args.k_dim;
    for (int64_t row = 0; row < args.n_rows; ++row) {
      const float* q = args.q + row * args.stride;
      const float* k = args.k + row * args.stride;
      const F decay = set1_f(args.decays[row]);
      const F expected = mul(recall(state, k, args.k_dim), decay);
      const F change =
          mul(sub(load_part(args.v + row * args.stride, channel, args.v_dim), expected), set1_f(args.betas[row]));
      store_part(args.out + row * args.out_stride, channel, args.v_dim, learn(state, decay, change, k, q, args.k_dim));
    }
  }
}

}  // namespace
}  // namespace ferrox
