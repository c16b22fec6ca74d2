// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/request_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::parse_request_file;
using tools::ReplayRequests;

namespace {

constexpr std::int64_t vocabulary = 100;

ReplayRequests parse(const std::string& text, std::int64_t rows = 1) {
  return parse_request_file(text, "req.json", rows, vocabulary);
}

/// The message for a file of one request with these fields.
std::string message_for(const std::string& fields, std::int64_t rows = 1) {
  return error_message([&] { parse(R"({"requests":[{)" + fields + "}]}", rows); });
}

}  // namespace

TEST_CASE("a request without fields has the documented defaults") {
  const ReplayRequests requests = parse(R"({"requests":[{}]})");
  REQUIRE(requests.configs.size() == 1);
  const GenerationConfig& config = requests.configs[0];
  CHECK(config.temperature == 1.0f);
  CHECK_FALSE(config.has_penalty());
  CHECK(config.logit_bias.empty());
  CHECK(config.seed == 0);
  CHECK(requests.cum_num_token == std::vector<std::int32_t>{0, 1});
  CHECK(requests.masked_rows() == std::vector<std::int32_t>{0});
  CHECK(requests.active_vocabulary == vocabulary);
  CHECK_FALSE(requests.step().draft_trees.has_value());
}

TEST_CASE("every field of a request is read") {
  const ReplayRequests requests = parse(R"({
    "active_vocab_size": 90, "policy": "seed",
    "requests": [
      {"id": "a", "temperature": 0.5, "top_p": 1.0, "top_k": 0, "min_p": 0.0,
       "presence_penalty": 0.25, "frequency_penalty": -0.5, "repetition_penalty": 1.5,
       "logit_bias": {"17": -2.5, "99": 1, "3": "-Infinity"},
       "prompt_token_ids": [1, 2], "generated_token_ids": [5, 6, 5], "num_tokens": 2,
       "draft": {"token_ids": [7, 8], "parents": [-1, 0], "rows": [-1, 1]},
       "masked": false, "seed": 18446744073709551615, "logprobs": false, "top_logprobs": 0},
      {"id": "b"}
    ]})",
                                        3);
  const GenerationConfig& config = requests.configs[0];
  CHECK(config.temperature == 0.5f);
  CHECK(config.presence_penalty == 0.25f);
  CHECK(config.frequency_penalty == -0.5f);
  CHECK(config.repetition_penalty == 1.5f);
  CHECK(config.seed == 18446744073709551615u);
  const std::vector<std::pair<TokenId, double>> bias{{17, -2.5}, {3, -INFINITY}, {99, 1.0}};
  CHECK(config.logit_bias == bias);
  CHECK(requests.histories[0].prompt().size() == 2);
  CHECK(requests.histories[0].count(5) == 2);
  CHECK(requests.histories[0].count(1) == 0);
  CHECK(requests.states[0].history == &requests.histories[0]);
  CHECK(requests.drafts[0].token_ids == std::vector<TokenId>{7, 8});
  CHECK(requests.draft_rows[0] == std::vector<std::int32_t>{-1, 1});
  CHECK(requests.draft_rows[1] == std::vector<std::int32_t>{-1});
  CHECK(requests.masked_rows() == std::vector<std::int32_t>{2});
  CHECK(requests.active_vocabulary == 90);
  CHECK(requests.ids == std::vector<std::string>{"a", "b"});
  CHECK(requests.step().draft_trees.has_value());
}

TEST_CASE("malformed request files are refused") {
  CHECK_THAT(error_message([] { parse(""); }), ContainsSubstring("req.json is no JSON"));
  CHECK_THAT(error_message([] { parse("{\"requests\":[{}]} x"); }), ContainsSubstring("no JSON"));
  CHECK_THAT(error_message([] { parse("[]"); }),
             ContainsSubstring("req.json is [], expected a JSON"));
  CHECK_THAT(error_message([] { parse("{}"); }), ContainsSubstring("req.json.requests is missing"));
  CHECK_THAT(error_message([] { parse(R"({"requests":{}})"); }),
             ContainsSubstring("req.json.requests is {}, expected an array of requests"));
  CHECK_THAT(error_message([] { parse(R"({"requests":[3]})"); }),
             ContainsSubstring("requests[0] is 3"));
  CHECK_THAT(error_message([] { parse(R"({"requests":[{}],"model":1})"); }),
             ContainsSubstring("unknown field \"model\""));
  CHECK_THAT(error_message([] { parse("{\"requests\":[{\"id\":\"\xc3\"}]}"); }),
             ContainsSubstring("UTF-8"));
  CHECK_THAT(error_message([] { parse("{\"requests\":" + std::string(200000, '[')); }),
             ContainsSubstring("depth of the JSON is 6, expected at most 5"));
  CHECK_THAT(message_for(R"("seed":1,"seed":2)"), ContainsSubstring("\"seed\" a second time"));
  CHECK_THAT(message_for(R"("temprature":1)"),
             ContainsSubstring("requests[0] is given the unknown field \"temprature\""));
}

TEST_CASE("numbers outside their range are refused and named") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("temperature":-1)", "temperature is -1"},
      {R"("temperature":-1e-60)", "temperature is -1e-60"},
      {R"("temperature":1e39)", "temperature is 1e+39, expected a number in [0, 3.4028235e+38]"},
      {R"("temperature":1e400)", "requests[0].temperature is 1e400, expected a number"},
      {R"("temperature":NaN)", "no JSON"},
      {R"("temperature":"1")", "temperature is \"1\""},
      {R"("temperature":null)", "temperature is null"},
      {R"("presence_penalty":-1e39)", "expected a number in [-3.4028235e+38, 3.4028235e+38]"},
      {R"("frequency_penalty":1e39)", "frequency_penalty"},
      {R"("repetition_penalty":0)", "repetition_penalty is 0"},
      {R"("repetition_penalty":-1)", "repetition_penalty is -1"},
      {R"("repetition_penalty":1e-60)",
       "repetition_penalty is 1e-60, expected a number in [1e-45, 3.4028235e+38]"},
      {R"("logit_bias":{"100":1})", "\"100\", expected a token id in [0, 99]"},
      {R"("logit_bias":{"-1":1})", "\"-1\""},
      {R"("logit_bias":{"07":1})", "\"07\""},
      {R"("logit_bias":{"":1})", "\"\""},
      {R"("logit_bias":{"/":1})", "\"/\""},
      {R"("logit_bias":{":7":1})", "\":7\""},
      {R"("logit_bias":{"1 ":1})", "\"1 \""},
      {R"("logit_bias":{"99999999999999999999":1})", "\"99999999999999999999\""},
      {R"("logit_bias":{"7":3.5e38})", "logit_bias.7 is 3.5e+38"},
      {R"("logit_bias":{"7":"Infinity"})", "logit_bias.7 is \"Infinity\""},
      {R"("logit_bias":[1])", "logit_bias is [1]"},
      {R"("seed":-1)", "seed is -1"},
      {R"("seed":1.0)", "seed is 1.0"},
      {R"("seed":18446744073709551616)", "seed is 1.8446744073709552e+19"},
      {R"("prompt_token_ids":[3,100])",
       "prompt_token_ids[1] is 100, expected an integer in [0, 99]"},
      {R"("prompt_token_ids":3)", "prompt_token_ids is 3, expected an array of integers"},
      {R"("generated_token_ids":[-1])", "generated_token_ids[0] is -1"},
      {R"("generated_token_ids":[4294967297])", "generated_token_ids[0] is 4294967297"},
      {R"("generated_token_ids":[1.5])", "generated_token_ids[0] is 1.5"},
      {R"("num_tokens":-1)", "num_tokens is -1"},
      {R"("num_tokens":2)", "num_tokens is 2"},
      {R"("num_tokens":0)", "sum of num_tokens is 0, expected 1"},
      {R"("masked":1)", "masked is 1"},
      {R"("id":7)", "id is 7"},
  };
  for (const auto& [fields, expected] : cases) {
    CAPTURE(fields);
    const std::string message = message_for(fields);
    CHECK_THAT(message, ContainsSubstring(expected));
    CHECK_THAT(message, ContainsSubstring("req.json"));
  }
  for (const char* active : {"0", "101", "-1", "1.5"}) {
    CAPTURE(active);
    CHECK_THAT(error_message([&] {
                 parse(std::string(R"({"active_vocab_size":)") + active + R"(,"requests":[{}]})");
               }),
               ContainsSubstring(std::string("active_vocab_size is ") + active));
  }
  CHECK_THAT(error_message([] {
               parse_request_file(R"({"active_vocab_size":524288,"requests":[]})", "r", 0, 600000);
             }),
             ContainsSubstring("expected an integer in [1, 524287]"));
  CHECK_THAT(error_message([] { parse_request_file(R"({"requests":[]})", "r", 0, 600000); }),
             ContainsSubstring("r.active_vocab_size is missing, expected an integer"));
}

TEST_CASE("drafts that do not fit together are refused") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("draft":{"token_ids":[100],"parents":[-1],"rows":[0]})", "draft.token_ids[0] is 100"},
      {R"("draft":{"token_ids":[1],"parents":[1],"rows":[0]})", "draft.parents[0] is 1"},
      {R"("draft":{"token_ids":[1],"parents":[-2],"rows":[0]})", "draft.parents[0] is -2"},
      {R"("draft":{"token_ids":[1,2],"parents":[-1],"rows":[0]})", "draft.parents"},
      {R"("draft":{"token_ids":[1],"parents":[-1],"rows":[1]})", "draft.rows[0] is 1"},
      {R"("draft":{"token_ids":[1],"parents":[-1],"rows":[0,0]})", "draft.rows"},
      {R"("draft":{"token_ids":[1],"parents":[-1]})", "draft.rows is missing"},
      {R"("draft":{"token_ids":[1],"parents":[0],"rows":[0]})",
       "draft.parents[0] is 0, expected a parent"},
      {R"("draft":{"token_ids":[1,2],"parents":[1,0],"rows":[0]})",
       "draft.parents[0] is 1, expected a parent"},
      {R"("draft":{"rows":[0]})", "draft.rows[0] is 0, expected -1 (the draft has no nodes)"},
      {R"("draft":{"parents":[0]})", "draft.parents[0] is 0, expected -1 (the draft has no"},
      {R"("draft":{"tokens":[1]})", "unknown field \"tokens\""},
      {R"("draft":[])", "draft is []"},
  };
  for (const auto& [fields, expected] : cases) {
    CAPTURE(fields);
    CHECK_THAT(message_for(fields), ContainsSubstring(expected));
  }
}

TEST_CASE("truncation and log-probabilities are those of their request") {
  const ReplayRequests requests = parse(R"({"requests":[
    {"top_p":0.25,"top_k":7,"min_p":0.5,"logprobs":"raw","top_logprobs":128},
    {"top_p":1,"top_k":2147483647,"min_p":1,"logprobs":"processed","num_tokens":2},
    {"logprobs":false,"top_p":0.99999999999}]})",
                                        4);
  CHECK(requests.configs[0].top_p == 0.25f);
  CHECK(requests.configs[0].top_k == 7);
  CHECK(requests.configs[0].min_p == 0.5f);
  CHECK(requests.configs[1].top_k == 2147483647);
  CHECK(requests.configs[1].min_p == 1.0f);
  CHECK(requests.configs[2].top_p == 1.0f);
  CHECK_FALSE(requests.configs[2].has_truncation());
  const auto& wanted = requests.log_probabilities;
  CHECK(wanted[0].kind == tools::LogProbabilityKind::raw);
  CHECK(wanted[0].top == 128);
  CHECK(wanted[1].kind == tools::LogProbabilityKind::processed);
  CHECK(wanted[1].top == 0);
  CHECK(wanted[2].kind == tools::LogProbabilityKind::none);
  CHECK(requests.of_rows<int>([](std::size_t request) { return request; }) ==
        std::vector<int>{0, 1, 1, 2});
}

TEST_CASE("bad values of truncation and log-probabilities are refused by name") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("top_p":0)", "top_p is 0, expected a number in (0, 1]"},
      {R"("top_p":-0.5)", "top_p is -0.5, expected a number in (0, 1]"},
      {R"("top_p":1e-60)", "top_p is 1e-60, expected a number in (0, 1]"},
      {R"("top_p":1.0000000001)", "expected a number in (0, 1]"},
      {R"("top_p":"0.5")", "top_p is \"0.5\""},
      {R"("top_k":-1)", "top_k is -1, expected an integer in [0, 2147483647]"},
      {R"("top_k":2147483648)", "top_k is 2147483648"},
      {R"("top_k":1.5)", "top_k is 1.5"},
      {R"("min_p":2)", "min_p is 2, expected a number in [0, 1]"},
      {R"("min_p":-1e-9)", "expected a number in [0, 1]"},
      {R"("logprobs":true)", "logprobs is true, expected false, \"raw\" or \"processed\""},
      {R"("logprobs":"cooked")", "logprobs is \"cooked\""},
      {R"("logprobs":0)", "logprobs is 0"},
      {R"("logprobs":null)", "logprobs is null"},
      {R"("logprobs":"raw","top_logprobs":129)",
       "top_logprobs is 129, expected an integer in [0, 128]"},
      {R"("logprobs":"raw","top_logprobs":-1)", "top_logprobs is -1"},
      {R"("top_logprobs":5)", "top_logprobs is 5, expected 0, because logprobs is false"},
  };
  for (const auto& [fields, expected] : cases) {
    CAPTURE(fields);
    CHECK_THAT(message_for(fields), ContainsSubstring(expected));
  }
}

TEST_CASE("the file's policy is that of every request") {
  const std::pair<const char*, PenaltyPolicy> cases[] = {
      {"seed", PenaltyPolicy::seed},
      {"openai", PenaltyPolicy::openai},
      {"hugging_face", PenaltyPolicy::hugging_face},
      {"llama_cpp", PenaltyPolicy::llama_cpp}};
  for (const auto& [name, policy] : cases) {
    const ReplayRequests requests =
        parse(R"({"requests":[{},{}],"policy":")" + std::string(name) + "\"}", 2);
    for (const GenerationConfig& config : requests.configs) CHECK(config.penalty_policy == policy);
  }
  CHECK(parse(R"({"requests":[{}]})").configs[0].penalty_policy == PenaltyPolicy::seed);
  CHECK_THAT(error_message([] { parse(R"({"policy":"vllm","requests":[{}]})"); }),
             ContainsSubstring("req.json.policy is \"vllm\", expected \"seed\", \"openai\""));
  CHECK_THAT(error_message([] { parse(R"({"policy":1,"requests":[{}]})"); }),
             ContainsSubstring("req.json.policy is 1"));
}

}  // namespace tokkos::test
