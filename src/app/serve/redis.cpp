// Redis connection: commands and replies, through hiredis.
#include "serve/redis.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "base/assert.h"

namespace warpgrind::serve {

namespace {

Reply copy_of(const redisReply& from) {
  Reply out;
  switch (from.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      out.kind = Reply::Kind::text;
      out.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_ERROR:
      out.kind = Reply::Kind::error;
      out.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_INTEGER:
      out.kind = Reply::Kind::number;
      out.number = from.integer;
      break;
    case REDIS_REPLY_ARRAY:
      out.kind = Reply::Kind::list;
      for (std::size_t i = 0; i < from.elements; ++i) out.items.push_back(copy_of(*from.element[i]));
      break;
    default:
      break;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Redis>> Redis::connect(const Broker& broker) {
  const timeval patience{5, 0};
  redisContext* context = redisConnectWithTimeout(broker.host.c_str(), broker.port, patience);
  const auto failed = [&](const std::string& why) {
    if (context) redisFree(context);
    return Error{ErrorKind::environment, fmt::format("the broker at {}:{}: {}", broker.host, broker.port, why),
                 "--broker HOST:PORT names a Redis server of version 6.2 or later (apt-get install redis-server)"};
  };
  if (!context || context->err != 0) return failed(context ? context->errstr : "no memory");
  const timeval longest{30, 0};  // longer than any command waits there
  redisSetTimeout(context, longest);
  std::unique_ptr<Redis> made(new Redis(context));
  if (broker.password.empty()) return made;
  auto reply = made->ask({"AUTH", broker.password});
  if (!reply || reply->kind == Reply::Kind::error)
    return Error{ErrorKind::environment, "the broker does not take the password", "--broker-password FILE"};
  return made;
}

Redis::~Redis() {
  redisFree(context_);
}

Result<Reply> Redis::ask(const std::vector<std::string>& words) {
  WG_ASSERT(!words.empty());
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  auto* reply =
      static_cast<redisReply*>(redisCommandArgv(context_, static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (!reply) return Error{ErrorKind::environment, fmt::format("the broker is gone: {}", context_->errstr), ""};
  Reply out = copy_of(*reply);
  freeReplyObject(reply);
  return out;
}

const std::string* Entry::find(const std::string& field) const {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    if (fields[i] == field) return &fields[i + 1];
  return nullptr;
}

std::vector<Entry> entries_of(const Reply& list) {
  std::vector<Entry> out;
  for (const Reply& one : list.items) {
    if (one.items.size() != 2) continue;
    Entry entry{one.items[0].text, {}};
    for (const Reply& field : one.items[1].items) entry.fields.push_back(field.text);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace warpgrind::serve
