// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/replay.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/command/step_progress.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/safetensors_reader.hpp"
#include "tools/io/safetensors_writer.hpp"
#include "tools/replay/comparison.hpp"
#include "tools/replay/replay_input.hpp"
#include "tools/replay/replay_step.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

namespace tokkos::tools {

namespace {

std::vector<OutputTensor> output_tensors(const ReplayResult& result, bool with_probabilities) {
  const auto rows = static_cast<std::int64_t>(result.tokens.extent(0));
  std::vector<OutputTensor> tensors;
  const auto add = [&tensors](const char* name, const auto& view, std::vector<std::int64_t> shape) {
    using Element = typename std::decay_t<decltype(view)>::const_value_type;
    tensors.emplace_back(name, std::span<Element>(view.data(), view.span()), std::move(shape));
  };
  if (with_probabilities) {
    const auto vocabulary = static_cast<std::int64_t>(result.logits.extent(1));
    add("logits", result.logits, {rows, vocabulary});
    add("probs", result.probabilities, {rows, vocabulary});
  }
  add("tokens", result.tokens, {rows});
  add("row_status", result.row_status, {rows});
  add("log_sum_exp", result.log_sum_exp, {rows});
  if (result.truncated_probabilities) {
    add("truncated_probs", *result.truncated_probabilities,
        {rows, static_cast<std::int64_t>(result.truncated_probabilities->extent(1))});
  }
  if (result.logprobs) add("logprobs", *result.logprobs, {rows});
  if (result.top_tokens) {
    const auto columns = static_cast<std::int64_t>(result.top_tokens->extent(1));
    add("top_logprobs", *result.top_logprobs, {rows, columns});
    add("top_tokens", *result.top_tokens, {rows, columns});
  }
  return tensors;
}

void print_timings(const StageSeconds& seconds, std::int64_t logits, std::ostream& out) {
  double total = 0.0;
  const auto print = [&out](const std::string& name, double value, const char* unit) {
    out << std::left << std::setw(20) << name << "  " << std::setprecision(4) << value << unit
        << '\n';
  };
  for (auto [stage, times] : seconds) {
    std::ranges::sort(times);
    const double median = times[times.size() / 2];
    total += median;
    print(stage + " median", median * 1e3, " ms");
    print(stage + " fastest", times.front() * 1e3, " ms");
  }
  print("step median", total * 1e3, " ms");
  print("logits per second", total > 0.0 ? static_cast<double>(logits) / total : 0.0, "");
}

std::vector<std::string> input_files(const OptionSet& options) {
  std::vector<std::string> files{options.required("logits"), options.required("requests")};
  if (options.has("compare")) files.push_back(options.required("compare"));
  return files;
}

}  // namespace

OptionSet parse_replay(std::span<const std::string> arguments) {
  return OptionSet(
      {"replay",
       "Run recorded logits through the library.\n"
       "Without the tensor uniforms each token is drawn with Philox, from its request's seed and "
       "id\n"
       "and the token's position. Requests without an id have the empty one: those of the same "
       "seed\n"
       "draw with the same numbers. So give each request an id, or a seed of its own.",
       {{"logits", "IN.safetensors",
         "logits [n,V] F32, F16 or BF16; optionally bitmask I32 [n,words], uniforms F32 [n]"},
        {"requests", "REQ.json", "The requests that own the rows"},
        {"output", "OUT.safetensors",
         "Receives logits, probs, tokens, row_status, log_sum_exp, and where requests ask for them "
         "logprobs, top_logprobs, top_tokens"},
        {"no-probs", "", "Leave logits and probs out and take the token-only path"},
        {"truncated", "", "Add truncated_probs: after top_k, top_p and min_p"},
        {"compare", "FILE", "Print the first and the worst disagreement with each tensor of FILE"},
        {"repeat", "K", "Run K times and print timings"},
        {"strict", "", "Exit with status 1 if a row has a bad status"}}},
      arguments);
}

void run_replay(const OptionSet& options, std::ostream& out) {
  const std::string output_name = options.required("output");
  ReplayOptions replay_options;
  replay_options.probabilities = !options.has("no-probs");
  replay_options.truncated_probabilities = options.has("truncated");
  if (replay_options.truncated_probabilities && !replay_options.probabilities) {
    throw Error("--truncated", std::nullopt, "given",
                "one of --truncated and --no-probs, which leaves all large tensors out");
  }
  if (const auto repeat = options.value("repeat")) {
    replay_options.repeat = static_cast<int>(parse_integer("--repeat", *repeat, 1, 1'000'000));
  }
  std::optional<SafetensorsReader> other;
  if (options.has("compare")) other.emplace(options.required("compare"));
  OutputFile output(output_name, input_files(options));

  std::optional<StepProgress> progress(std::in_place, "replay", replay_options.repeat + 2);
  const ReplayInput input =
      read_replay_input(options.required("logits"), options.required("requests"));
  progress->advance();
  StageSeconds seconds;
  const ReplayResult result =
      replay_step(input, replay_options, seconds, [&progress] { progress->advance(); });
  const auto tensors = output_tensors(result, replay_options.probabilities);
  std::ostringstream text;
  if (other) compare_with_file(*other, tensors, input.requests.active_vocabulary, text);
  output.write([&tensors](std::ostream& file) { write_safetensors(file, tensors); });
  progress.reset();

  const std::span<const std::int32_t> status(result.row_status.data(), result.row_status.extent(0));
  print_bad_rows("row", status, RowStatus::ok, text);
  if (options.has("repeat")) {
    print_timings(seconds, static_cast<std::int64_t>(input.logits.span()), text);
  }
  out << text.str();
  output.publish(out);
  if (options.has("strict")) refuse_bad_rows(status, RowStatus::ok);
}

}  // namespace tokkos::tools
