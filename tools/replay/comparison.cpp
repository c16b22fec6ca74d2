// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/comparison.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/types.hpp>

#include "tools/io/checked_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace tokkos::tools {

namespace {

struct Disagreement {
  std::int64_t element = -1;
  double ours = 0.0;
  double theirs = 0.0;
  double difference = -1.0;
};

struct Comparison {
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  Disagreement first;
  Disagreement worst;

  void add(std::int64_t element, double ours, double theirs) {
    ++compared;
    if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return;
    double difference = std::abs(ours - theirs);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    const Disagreement here{element, ours, theirs, difference};
    if (++differing == 1) first = here;
    if (difference > worst.difference) worst = here;
  }
};

double element_of(const OutputTensor& tensor, std::int64_t element) {
  const std::byte* place = tensor.bytes.data() + 4 * element;
  if (tensor.dtype == "F32") {
    float value;
    std::memcpy(&value, place, sizeof(value));
    return static_cast<double>(value);
  }
  std::int32_t value;
  std::memcpy(&value, place, sizeof(value));
  return static_cast<double>(value);
}

Comparison compare(SafetensorsReader& other, const TensorInfo& theirs, const OutputTensor& ours,
                   std::int64_t active_vocabulary) {
  constexpr std::int64_t slice = 1 << 16;
  const bool logits = ours.name == "logits";
  const std::int64_t columns = ours.shape.back();
  const auto forbidden = [](double logit) { return logit <= static_cast<double>(masked_logit); };
  Comparison comparison;
  std::vector<double> numbers;
  for (std::int64_t begin = 0; begin < theirs.size(); begin += slice) {
    numbers.resize(static_cast<std::size_t>(std::min(slice, theirs.size() - begin)));
    other.read_numbers(theirs, begin, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::int64_t element = begin + static_cast<std::int64_t>(i);
      if (logits && element % columns >= active_vocabulary) continue;
      const double our_number = element_of(ours, element);
      const bool both = logits && forbidden(our_number) && forbidden(numbers[i]);
      comparison.add(element, our_number, both ? our_number : numbers[i]);
    }
  }
  return comparison;
}

std::string place_of(const OutputTensor& tensor, std::int64_t element) {
  std::string place = "[";
  if (tensor.shape.size() > 1) {
    place += to_text(element / tensor.shape.back()) + ", ";
    element %= tensor.shape.back();
  }
  return place + to_text(element) + "]";
}

/// A number of the tensor in as many digits as its type has.
std::string number_text(const OutputTensor& tensor, double number) {
  const float narrowed = static_cast<float>(number);
  const bool exact = static_cast<double>(narrowed) == number;
  return tensor.dtype == "F32" && exact ? to_text(narrowed) : to_text(number);
}

std::string disagreement_text(const OutputTensor& tensor, const Disagreement& one) {
  return place_of(tensor, one.element) + " " + number_text(tensor, one.ours) + " against " +
         number_text(tensor, one.theirs) + " (difference " +
         to_text(static_cast<float>(one.difference)) + ")";
}

void print(const OutputTensor& tensor, const Comparison& comparison, std::ostream& out) {
  out << tensor.name << "  " << comparison.differing << " of " << comparison.compared << " differ";
  if (comparison.differing > 0) {
    out << "; first " << disagreement_text(tensor, comparison.first) << "; worst "
        << disagreement_text(tensor, comparison.worst);
  }
  out << '\n';
}

}  // namespace

void compare_with_file(SafetensorsReader& other, std::span<const OutputTensor> tensors,
                       std::int64_t active_vocabulary, std::ostream& out) {
  for (const OutputTensor& tensor : tensors) {
    const TensorInfo* theirs = other.find(tensor.name);
    if (!theirs) {
      out << tensor.name << "  not in " << other.file() << '\n';
      continue;
    }
    other.check(*theirs,
                theirs->shape == tensor.shape && theirs->dtype->is_float == (tensor.dtype == "F32"),
                type_and_shape(tensor.dtype, tensor.shape) +
                    (tensor.dtype == "F32" ? " (any float type)" : " (any integer type)"));
    print(tensor, compare(other, *theirs, tensor, active_vocabulary), out);
  }
  for (const TensorInfo& theirs : other.tensors()) {
    if (std::ranges::find(tensors, theirs.name, &OutputTensor::name) == tensors.end()) {
      out << shortened(theirs.name) << "  only in " << other.file() << '\n';
    }
  }
}

}  // namespace tokkos::tools
