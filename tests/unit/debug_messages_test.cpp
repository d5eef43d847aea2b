// Framing of messages of the Debug Adapter Protocol. What is right is the protocol's text: header fields end with CR
// LF, an empty line follows, and Content-Length counts the bytes behind it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dap/base64.h"
#include "dap/message_reader.h"
#include "debug/location.h"
#include "debug/memory_text.h"

using namespace warpgrind;
using namespace warpgrind::dap;
using namespace warpgrind::debug;

namespace {

// The messages, or the text of the error.
std::vector<std::string> read_in_parts(const std::string& stream, std::size_t part) {
  MessageReader reader;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < stream.size(); at += part) {
    reader.add(std::string_view(stream).substr(at, part));
    for (;;) {
      const auto message = reader.next();
      if (!message) {
        out.push_back(message.error().message);
        return out;
      }
      if (!*message) break;
      out.push_back((*message)->dump());
    }
  }
  if (reader.inside_message()) out.emplace_back("unfinished");
  return out;
}

TEST(DebugMessages, AnyPartsGiveTheSameMessages) {
  const std::string two = "Content-Length: 7\r\n\r\n{\"a\":1}Content-Type: text\r\ncontent-length:  2 \r\n\r\n{}";
  for (std::size_t part = 1; part <= two.size(); ++part)
    EXPECT_EQ(read_in_parts(two, part), (std::vector<std::string>{"{\"a\":1}", "{}"})) << part;
}

TEST(DebugMessages, LengthCountsBytes) {
  const std::string body = "{\"b\":\"\xc3\xa4\"}";  // one character of two bytes
  EXPECT_EQ(body.size(), 10u);
  EXPECT_EQ(frame(Json{{"b", "\xc3\xa4"}}), "Content-Length: 10\r\n\r\n" + body);
  EXPECT_EQ(read_in_parts("Content-Length: 10\r\n\r\n" + body, 1000), std::vector<std::string>{body});
}

TEST(DebugMessages, BrokenOnesAreNamedAtOnce) {
  const std::pair<const char*, const char*> cases[] = {
      {"Content-Length: -5\r\n\r\n", "\"-5\" is no length"},
      {"Content-Length: 5x\r\n\r\n", "\"5x\" is no length"},
      {"Content-Length: \r\n\r\n", "\"\" is no length"},
      {"Content-Length: 99999999999999999999999\r\n\r\n", "is no length"},
      {"Content-Length: 67108865\r\n\r\n", "67108865 bytes, and the limit is 67108864"},
      {"\r\n", "no Content-Length"},
      {"Content-Length 5\r\n", "\"Content-Length 5\" is no header field"},
      {"{\"seq\":1}", "\"{\"seq\":1}\" is no header field"},
      {"Content-Length: 2\r\n\r\n[]", "no JSON object"},
      {"Content-Length: 4\r\n\r\n{\"a\"", "no JSON object"},
  };
  for (const auto& [stream, message] : cases) {
    const auto read = read_in_parts(stream, 1000);
    ASSERT_EQ(read.size(), 1u) << stream;
    EXPECT_NE(read[0].find(message), std::string::npos) << stream << ": " << read[0];
    EXPECT_FALSE(read_in_parts(stream, 1).empty()) << stream;
  }
  EXPECT_NE(read_in_parts("Content-Type: " + std::string(5000, 'x'), 100).back().find("more than 4096 bytes"),
            std::string::npos);
}

TEST(DebugMessages, AStreamMayEndInsideAMessage) {
  EXPECT_EQ(read_in_parts("Content-Length: 7\r\n\r\n{\"a\"", 3), std::vector<std::string>{"unfinished"});
  EXPECT_EQ(read_in_parts("Cont", 1), std::vector<std::string>{"unfinished"});
}

// Examples of RFC 4648, section 10.
TEST(DebugMessages, Base64) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"Zg==", "f"},
                                                       {"Zm8=", "fo"},
                                                       {"Zm9v", "foo"},
                                                       {"Zm9vYg==", "foob"},
                                                       {"Zm9vYmE=", "fooba"},
                                                       {"Zm9vYmFy", "foobar"}};
  for (const auto& [text, bytes] : cases) {
    const auto decoded = decode_base64(text);
    ASSERT_TRUE(decoded) << text;
    EXPECT_EQ(std::string(decoded->begin(), decoded->end()), bytes);
    EXPECT_EQ(encode_base64(*decoded), text);
  }
  EXPECT_FALSE(decode_base64("Zm9 v"));
}

TEST(DebugMessages, Locations) {
  const auto read = [](const char* text) {
    const auto place = read_location(text, "now.cu", 7);
    return place ? place->text() : "error";
  };
  EXPECT_EQ(read("a.cu:12"), "a.cu:12");
  EXPECT_EQ(read("/x/a.cu : 12"), "/x/a.cu:12");
  EXPECT_EQ(read("12"), "now.cu:12");
  EXPECT_EQ(read(""), "now.cu:7");
  EXPECT_EQ(read("kernel<int, 2>"), "kernel<int, 2>");
  EXPECT_EQ(read("ns::kernel"), "ns::kernel");
  EXPECT_EQ(read("a.cu:0"), "error");
  EXPECT_EQ(read("*0x10"), "error");
  std::string text = "stiff if (x == 1)";
  EXPECT_EQ(cut_condition(text), "(x == 1)");
  EXPECT_EQ(text, "stiff");
  text = "gif";
  EXPECT_EQ(cut_condition(text), "");
  EXPECT_EQ(text, "gif");
}

}  // namespace
