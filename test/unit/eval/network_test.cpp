// Normalizations, attention, losses: against their formulas, computed in double.
#include <algorithm>

#include "reference.h"

namespace iropt {

namespace {

// The mean and the (biased) variance of the elements in the group of the element at `index` according to `same`.
struct Moments {
  double mean = 0;
  double variance = 0;
  double square = 0;  // the mean of the squares
};

template <class F>
Moments MomentsOf(const Ref& x, const Dims& index, F&& same) {
  std::vector<double> members;
  x.ForEach([&](const Dims& other) {
    if (same(index, other)) members.push_back(x.at(other));
  });
  Moments m;
  const double n = static_cast<double>(members.size());
  for (const double v : members) m.mean += v / n, m.square += v * v / n;
  for (const double v : members) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}

}  // namespace

TEST_CASE("layer_norm and rms_norm", "[eval]") {
  const Ref x = Ref::Fractions({2, 3, 4}, 21);
  const Ref gamma = Ref::Fractions({3, 4}, 22);
  const Ref beta = Ref::Fractions({3, 4}, 23);
  const auto same = [](const Dims& a, const Dims& b) { return a[0] == b[0]; };
  const Ref layer = Ref::Of(x.shape, [&](const Dims& i) {
    const Moments m = MomentsOf(x, i, same);
    return (x.at(i) - m.mean) / std::sqrt(m.variance + 1e-3) * gamma.at({i[1], i[2]}) + beta.at({i[1], i[2]});
  });
  const Ref rms = Ref::Of(x.shape, [&](const Dims& i) {
    return x.at(i) / std::sqrt(MomentsOf(x, i, same).square + 1e-3) * gamma.at({i[1], i[2]});
  });
  const ObjectAttr* attrs = Attrs({{"axes", Ints({-2, -1})}, {"epsilon", Number(1e-3)}});
  for (const DataType dtype : FloatTypes()) {
    CheckClose(*Run("nn.layer_norm", {x.As(dtype), gamma.As(dtype), beta.As(dtype)}, attrs), layer, 32);
    CheckClose(*Run("nn.rms_norm", {x.As(dtype), gamma.As(dtype)}, attrs), rms, 32);
  }
  const Tensor wrong = F32({4}, {1, 1, 1, 1});
  CHECK_FALSE(Try("nn.layer_norm", {x.As(DataType::Float(32)), wrong, wrong}, attrs).ok());
  CHECK_FALSE(Try("nn.rms_norm", {x.As(DataType::Int(32)), gamma.As(DataType::Int(32))}, attrs).ok());
}

TEST_CASE("group_norm", "[eval]") {
  const Ref x = Ref::Fractions({2, 6, 2, 2}, 24);
  const Ref gamma = Ref::Fractions({6}, 25);
  const Ref beta = Ref::Fractions({6}, 26);
  const Ref expected = Ref::Of(x.shape, [&](const Dims& i) {
    const Moments m =
        MomentsOf(x, i, [](const Dims& a, const Dims& b) { return a[0] == b[0] && a[1] / 3 == b[1] / 3; });
    return (x.at(i) - m.mean) / std::sqrt(m.variance + 1e-5) * gamma.at({i[1]}) + beta.at({i[1]});
  });
  const ObjectAttr* attrs =
      Attrs({{"num_groups", Int(2)}, {"channel_axis", Int(1)}, {"axes", Ints({2, 3})}, {"epsilon", Number(1e-5)}});
  for (const DataType dtype : FloatTypes())
    CheckClose(*Run("nn.group_norm", {x.As(dtype), gamma.As(dtype), beta.As(dtype)}, attrs), expected, 64);
  const ObjectAttr* uneven = Attrs({{"num_groups", Int(4)}, {"channel_axis", Int(1)}, {"axes", Ints({2, 3})}});
  CHECK_FALSE(Try("nn.group_norm",
                  {x.As(DataType::Float(32)), gamma.As(DataType::Float(32)), beta.As(DataType::Float(32))}, uneven)
                  .ok());
}

TEST_CASE("normalizations of data with a large mean", "[eval]") {
  // The mean of the squares less the square of the mean has no correct digit in float32 here.
  const Ref small = Ref::Fractions({2, 4, 3, 5}, 40);
  const Ref x = Ref::Of(small.shape, [&](const Dims& i) { return std::round(small.at(i) * 64) / 64 + 4096; });
  const DataType f32 = DataType::Float(32);
  const Ref ones = Ref::Of({4}, [](const Dims&) { return 1.0; });
  const Ref zeros = Ref::Of({4}, [](const Dims&) { return 0.0; });
  const auto expected = [&](auto&& same) {
    return Ref::Of(x.shape, [&, same](const Dims& i) {
      const Moments m = MomentsOf(x, i, same);
      return (x.at(i) - m.mean) / std::sqrt(m.variance + 1e-5);
    });
  };
  const auto one_image = [](const Dims& a, const Dims& b) { return a[0] == b[0] && a[1] == b[1]; };
  const auto close = [&](const Tensor& found, const Ref& wanted) {
    const std::vector<double> values = Elements(*found);
    for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(wanted.values[i]).margin(0.02));
  };
  const std::vector<HostValue> args{x.As(f32), ones.As(f32), zeros.As(f32)};
  close(Run("nn.instance_norm", args,
            Attrs({{"channel_axis", Int(1)}, {"axes", Ints({2, 3})}, {"epsilon", Number(1e-5)}})),
        expected(one_image));
  close(
      Run("nn.group_norm", args,
          Attrs({{"num_groups", Int(2)}, {"channel_axis", Int(1)}, {"axes", Ints({2, 3})}, {"epsilon", Number(1e-5)}})),
      expected([](const Dims& a, const Dims& b) { return a[0] == b[0] && a[1] / 2 == b[1] / 2; }));
  const Ref flat = Ref::Of({5}, [](const Dims&) { return 1.0; });
  const Ref none = Ref::Of({5}, [](const Dims&) { return 0.0; });
  close(Run("nn.layer_norm", {x.As(f32), flat.As(f32), none.As(f32)},
            Attrs({{"axes", Ints({-1})}, {"epsilon", Number(1e-5)}})),
        expected([](const Dims& a, const Dims& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }));
}

TEST_CASE("normalizations leave out the parameters that are switched off", "[eval]") {
  const Tensor x = F32({1, 2, 2}, {1, 3, 2, 6});
  const Tensor gamma = F32({2}, {2, 3});
  const Tensor beta = F32({2}, {10, 20});
  for (const bool scale : {false, true}) {
    for (const bool center : {false, true}) {
      const NamedAttr epsilon{"epsilon", Number(0)};
      const NamedAttr scales{"scale", IntAttr::Bool(scale)};
      const NamedAttr centers{"center", IntAttr::Bool(center)};
      // Each row is -1 and 1 without parameters.
      const auto row = [&](double first, double second) {
        return std::vector<double>{-(scale ? first : 1) + (center ? 10 : 0), (scale ? second : 1) + (center ? 20 : 0)};
      };
      std::vector<double> by_column = row(2, 3);
      by_column.insert(by_column.end(), {by_column[0], by_column[1]});
      CHECK(Values("nn.layer_norm", {x, gamma, beta}, Attrs({{"axes", Ints({-1})}, epsilon, scales, centers})) ==
            by_column);
      std::vector<double> by_row;
      for (const auto& [g, b] : {std::pair(2.0, 10.0), {3.0, 20.0}})
        for (const double sign : {-1.0, 1.0}) by_row.push_back(sign * (scale ? g : 1) + (center ? b : 0));
      CHECK(Values("nn.instance_norm", {x, gamma, beta},
                   Attrs({{"channel_axis", Int(1)}, {"axes", Ints({2})}, epsilon, scales, centers})) == by_row);
      CHECK(
          Values(
              "nn.group_norm", {x, gamma, beta},
              Attrs(
                  {{"num_groups", Int(2)}, {"channel_axis", Int(1)}, {"axes", Ints({2})}, epsilon, scales, centers})) ==
          by_row);
    }
  }
}

TEST_CASE("batch_norm normalizes by the moments of the batch and moves the others towards them", "[eval]") {
  const Ref x = Ref::Fractions({2, 3, 4}, 27);
  const Ref gamma = Ref::Fractions({3}, 28);
  const Ref beta = Ref::Fractions({3}, 29);
  const Ref mean = Ref::Fractions({3}, 30);
  const Ref var = Ref::Fractions({3}, 31);
  const auto same = [](const Dims& a, const Dims& b) { return a[1] == b[1]; };
  for (const bool plain : {false, true}) {
    const Ref out = Ref::Of(x.shape, [&](const Dims& i) {
      const Moments m = MomentsOf(x, i, same);
      const double y = (x.at(i) - m.mean) / std::sqrt(m.variance + 1e-2);
      return plain ? y : y * gamma.at({i[1]}) + beta.at({i[1]});
    });
    const Ref new_mean = Ref::Of({3}, [&](const Dims& c) {
      return 0.75 * mean.at(c) + 0.25 * MomentsOf(x, {0, c[0], 0}, same).mean;
    });
    const Ref new_var = Ref::Of({3}, [&](const Dims& c) {
      return 0.75 * var.at(c) + 0.25 * MomentsOf(x, {0, c[0], 0}, same).variance;
    });
    const ObjectAttr* attrs = Attrs({{"axis", Int(1)},
                                     {"epsilon", Number(1e-2)},
                                     {"momentum", Number(0.25)},
                                     {"center", IntAttr::Bool(!plain)},
                                     {"scale", IntAttr::Bool(!plain)}});
    for (const DataType dtype : FloatTypes()) {
      const Result<HostValue> result =
          Try("nn.batch_norm", {x.As(dtype), gamma.As(dtype), beta.As(dtype), mean.As(dtype), var.As(dtype)}, attrs);
      REQUIRE(result.ok());
      REQUIRE((*result).tuple()->fields.size() == 3);
      CheckClose(*(*result).tuple()->fields[0].tensor(), out, 32);
      CheckClose(*(*result).tuple()->fields[1].tensor(), new_mean);
      CheckClose(*(*result).tuple()->fields[2].tensor(), new_var);
    }
  }
}

namespace {

enum class Mask { kNone, kTopLeft, kBottomRight };
constexpr int64_t kNoWindow = 1000;

// Position s of head h of the query attends to position t of key and value with the weight exp(score) / sum.
Ref Attention(const Ref& q, const Ref& k, const Ref& v, double scale, Mask mask, const Ref* bias = nullptr,
              int64_t window = kNoWindow) {
  const int64_t shared = q.shape[2] / k.shape[2];
  const int64_t offset = mask == Mask::kBottomRight ? std::abs(q.shape[1] - k.shape[1]) : 0;
  return Ref::Of({q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, [&](const Dims& i) {
    double sum = 0;
    double total = 0;
    for (int64_t t = 0; t < k.shape[1]; ++t) {
      if (mask != Mask::kNone && t > i[1] + offset) continue;
      if (i[1] - t >= window) continue;
      double score = 0;
      for (int64_t d = 0; d < q.shape[3]; ++d) score += q.at({i[0], i[1], i[2], d}) * k.at({i[0], t, i[2] / shared, d});
      score *= scale;
      if (bias) score += bias->at({i[0], 0, i[1], t});
      sum += std::exp(score);
      total += std::exp(score) * v.at({i[0], t, i[2] / shared, i[3]});
    }
    return total / sum;
  });
}

}  // namespace

TEST_CASE("attention: scales, masks, bias, shared heads", "[eval]") {
  const Ref q = Ref::Fractions({2, 3, 4, 5}, 32);
  const Ref k = Ref::Fractions({2, 4, 2, 5}, 33);
  const Ref v = Ref::Fractions({2, 4, 2, 3}, 34);
  const Ref bias = Ref::Fractions({2, 1, 3, 4}, 35);
  const auto attrs = [](const Attr* scale, std::string_view mask, int64_t window = kNoWindow) {
    return Attrs({{"scale", scale},
                  {"causal_mask", mask.empty() ? static_cast<const Attr*>(NoneAttr::Get()) : Text(mask)},
                  {"window_size", window == kNoWindow ? static_cast<const Attr*>(NoneAttr::Get()) : Int(window)}});
  };
  for (const DataType dtype : FloatTypes()) {
    const auto run = [&](const ObjectAttr* a) {
      return Run("nn.attention", {q.As(dtype), k.As(dtype), v.As(dtype)}, a);
    };
    CheckClose(*run(attrs(NoneAttr::Get(), "")), Attention(q, k, v, 1 / std::sqrt(5.0), Mask::kNone));
    CheckClose(*run(attrs(Number(0.5), "")), Attention(q, k, v, 0.5, Mask::kNone));
    CheckClose(*run(attrs(Number(0.5), "TopLeft")), Attention(q, k, v, 0.5, Mask::kTopLeft));
    CheckClose(*run(attrs(Number(0.5), "BottomRight")), Attention(q, k, v, 0.5, Mask::kBottomRight));
    for (const int64_t window : {1, 2, 3, 8}) {
      CheckClose(*run(attrs(Number(0.5), "TopLeft", window)), Attention(q, k, v, 0.5, Mask::kTopLeft, nullptr, window));
      CheckClose(*run(attrs(Number(0.5), "BottomRight", window)),
                 Attention(q, k, v, 0.5, Mask::kBottomRight, nullptr, window));
    }
    CheckClose(
        *Run("nn.attention_bias", {q.As(dtype), k.As(dtype), v.As(dtype), bias.As(dtype)}, attrs(Number(0.5), "")),
        Attention(q, k, v, 0.5, Mask::kNone, &bias));
  }
  const Tensor f = q.As(DataType::Float(32));
  CHECK_FALSE(Try("nn.attention", {f, f, F32({1, 1, 1, 1}, {1})}, attrs(NoneAttr::Get(), "")).ok());
  CHECK_FALSE(Try("nn.attention", {f, f, f}, attrs(NoneAttr::Get(), "Diagonal")).ok());
  CHECK_FALSE(Try("nn.attention", {f, f, f}, attrs(NoneAttr::Get(), "", 2)).ok());
  CHECK_FALSE(Try("nn.attention", {f, f, f}, attrs(NoneAttr::Get(), "TopLeft", -1)).ok());
}

TEST_CASE("attention of several sequences in one batch", "[eval]") {
  const Ref q = Ref::Fractions({1, 5, 2, 3}, 36);
  const Ref k = Ref::Fractions({1, 6, 2, 3}, 37);
  const Ref v = Ref::Fractions({1, 6, 2, 2}, 38);
  const auto part = [](const Ref& x, int64_t begin, int64_t end) {
    return Ref::Of({1, end - begin, x.shape[2], x.shape[3]}, [&](const Dims& i) {
      return x.at({0, i[1] + begin, i[2], i[3]});
    });
  };
  const Ref first = Attention(part(q, 0, 2), part(k, 0, 4), part(v, 0, 4), 0.5, Mask::kNone);
  const Ref second = Attention(part(q, 2, 5), part(k, 4, 6), part(v, 4, 6), 0.5, Mask::kNone);
  const Ref expected = Ref::Of({1, 5, 2, 2}, [&](const Dims& i) {
    return i[1] < 2 ? first.at(i) : second.at({0, i[1] - 2, i[2], i[3]});
  });
  const ObjectAttr* attrs =
      Attrs({{"scale", Number(0.5)}, {"causal_mask", NoneAttr::Get()}, {"window_size", NoneAttr::Get()}});
  const auto args = [&](DataType dtype, std::vector<double> starts) {
    return std::vector<HostValue>{q.As(dtype),         k.As(dtype),   v.As(dtype),  I32({3}, starts),
                                  I32({3}, {0, 4, 6}), I32({1}, {3}), I32({1}, {4})};
  };
  for (const DataType dtype : FloatTypes())
    CheckClose(*Run("nn.attention_var_len", args(dtype, {0, 2, 5}), attrs), expected);
  for (const std::vector<double>& starts : {std::vector<double>{0, 2, 6}, {2, 0, 5}, {-1, 2, 5}})
    CHECK_FALSE(Try("nn.attention_var_len", args(DataType::Float(32), starts), attrs).ok());
}

TEST_CASE("losses and their gradients", "[eval]") {
  const Ref x = Ref::Fractions({2, 3, 2}, 39);
  const Ref labels = Ref::Fractions({2, 3, 2}, 40);
  const Ref weights = Ref::Of({3}, [](const Dims& i) { return 0.5 + static_cast<double>(i[0]); });
  const Ref targets = [] {
    Ref t({2, 2});
    t.values = {2, 0, 1, 2};
    return t;
  }();
  double entropy = 0;
  x.ForEach([&](const Dims& i) { entropy -= x.at(i) * labels.at(i) / 2; });
  Ref scalar(Dims{});
  for (const DataType dtype : FloatTypes()) {
    scalar.values = {entropy};
    CheckClose(*Run("nn.cross_entropy_with_logits", {x.As(dtype), labels.As(dtype)}), scalar, 32);
  }
  for (const int64_t ignored : {int64_t{-100}, int64_t{0}}) {
    for (const bool weighted : {false, true}) {
      const auto weight = [&](const Dims& i) {
        const double c = targets.at(i);
        return static_cast<int64_t>(c) == ignored ? 0.0 : weighted ? weights.at({static_cast<int64_t>(c)}) : 1.0;
      };
      const Ref none = Ref::Of({2, 2}, [&](const Dims& i) {
        return -x.at({i[0], static_cast<int64_t>(targets.at(i)), i[1]}) * weight(i);
      });
      double total = 0;
      double sum = 0;
      none.ForEach([&](const Dims& i) { sum += none.at(i), total += weight(i); });
      for (const char* reduction : {"none", "sum", "mean"}) {
        const std::string_view how = reduction;
        const ObjectAttr* attrs = Attrs({{"reduction", Text(how)}, {"ignore_index", Int(ignored)}});
        scalar.values = {how == "mean" ? sum / total : sum};
        const Ref grad = Ref::Fractions(how == "none" ? Dims{2, 2} : Dims{}, 41);
        Ref back(x.shape);
        targets.ForEach([&](const Dims& i) {
          const double g = how == "none" ? grad.at(i) : grad.values[0];
          back.at({i[0], static_cast<int64_t>(targets.at(i)), i[1]}) = -weight(i) * g / (how == "mean" ? total : 1);
        });
        for (const DataType dtype : FloatTypes()) {
          std::vector<HostValue> args{x.As(dtype), targets.As(DataType::Int(64))};
          if (weighted) args.emplace_back(weights.As(dtype));
          CheckClose(*Run("nn.nll_loss", args, attrs), how == "none" ? none : scalar);
          args.insert(args.begin(), HostValue(grad.As(dtype)));
          CheckClose(*Run("grad.nll_loss_backward", args, attrs), back);
        }
      }
    }
  }
  const ObjectAttr* mean = Attrs({{"reduction", Text("mean")}, {"ignore_index", Int(-100)}});
  CHECK(Values("nn.nll_loss", {F32({3}, {1, 2, 4}), I64({}, {2})}, mean) == std::vector<double>{-4});
  CHECK(Values("nn.nll_loss", {F32({2}, {1, 2}), I64({}, {1}), F32({3}, {5, 3, 7})},
               Attrs({{"reduction", Text("sum")}, {"ignore_index", Int(-100)}})) == std::vector<double>{-6});
  CHECK_FALSE(Try("nn.nll_loss", {F32({3}, {1, 2, 4}), I64({}, {3})}, mean).ok());
  CHECK_FALSE(Try("nn.nll_loss", {F32({3}, {1, 2, 4}), I64({}, {-1})}, mean).ok());
  CHECK_FALSE(Try("nn.nll_loss", {F32({3}, {1, 2, 4}), F32({}, {1})}, mean).ok());
}

TEST_CASE("the gradient of take sums elements taken from the same index", "[eval]") {
  for (const DataType dtype : AllNumberTypes()) {
    const Tensor x = Ref({3, 2}).As(dtype);
    CHECK(Elements(*Run("grad.take_backward", {T(dtype, {3, 2}, {1, 2, 3, 4, 1, 2}), x, I32({3}, {2, 0, 2})},
                        Attrs({{"axis", Int(0)}}))) == std::vector<double>{3, 4, 0, 0, 2, 4});
    CHECK(Elements(*Run("grad.take_backward", {T(dtype, {3, 3}, {1, 2, 3, 4, 3, 2, 1, 1, 1}), x, I64({3}, {1, 1, 0})},
                        Attrs({{"axis", Int(-1)}}))) == std::vector<double>{3, 3, 2, 7, 1, 2});
    CHECK(Elements(*Run("grad.take_backward", {T(dtype, {2}, {1, 2}), x, I64({2}, {5, 5})},
                        Attrs({{"axis", NoneAttr::Get()}}))) == std::vector<double>{0, 0, 0, 0, 0, 3});
  }
  CHECK_FALSE(
      Try("grad.take_backward", {F32({1, 2}, {1, 2}), F32({3, 2}, Iota(6)), I64({1}, {3})}, Attrs({{"axis", Int(0)}}))
          .ok());
}

TEST_CASE("dropout is evaluated only for rate 0", "[eval]") {
  const Tensor x = F32({2}, {1, 2});
  const Result<HostValue> kept = Try("nn.dropout", {x}, Attrs({{"rate", Number(0)}}));
  REQUIRE(kept.ok());
  CHECK(Elements(*(*kept).tuple()->fields[0].tensor()) == std::vector<double>{1, 2});
  CHECK(Elements(*(*kept).tuple()->fields[1].tensor()) == std::vector<double>{1, 1});
  CHECK_FALSE(Try("nn.dropout", {x}, Attrs({{"rate", Number(0.5)}})).ok());
}

}  // namespace iropt
