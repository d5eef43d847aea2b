// Meeting of the participants of an operation.
#include "libraries/nccl/operations.h"

#include <algorithm>
#include <utility>

namespace warpgrind::libraries::nccl {

std::vector<int> Operation::missing() {
  const std::lock_guard lock(mutex);
  std::vector<int> out;
  for (std::size_t p = 0; p < issued.size(); ++p)
    if (!issued[p]) out.push_back(static_cast<int>(p));
  return out;
}

OperationRef Operations::issue(const Key& key, int participants, int participant, const Call& call,
                               std::string& error) {
  const std::lock_guard lock(mutex_);
  OperationRef& entry = open_[key];
  if (!entry) entry = std::make_shared<Operation>(participants);
  OperationRef operation = entry;
  const std::lock_guard inner(operation->mutex);
  if (!operation->has_call) {
    operation->call = call;
    operation->first = participant;
    operation->has_call = true;
  } else if (operation->error.empty()) {
    operation->error = difference(operation->call, operation->first, call, participant);
    if (!operation->error.empty()) {
      operation->result = ncclInvalidUsage;
      operation->refused.store(true, std::memory_order_release);
    }
  }
  error = operation->error;
  operation->issued[static_cast<std::size_t>(participant)] = true;
  const auto& issued = operation->issued;
  if (std::find(issued.begin(), issued.end(), false) == issued.end()) open_.erase(key);
  return operation;
}

void Operations::arrive(Operation& operation, int participant, const Part& part,
                        std::function<void(const Operation&)> at_end) {
  {
    const std::lock_guard lock(operation.mutex);
    operation.parts[static_cast<std::size_t>(participant)] = part;
    operation.arrived[static_cast<std::size_t>(participant)] = true;
    if (at_end) operation.at_end.push_back(std::move(at_end));
    const auto& arrived = operation.arrived;
    if (std::find(arrived.begin(), arrived.end(), false) != arrived.end()) return;
  }
  // The last participant: the others wait, and change nothing.
  for (std::size_t p = 0; p < operation.parts.size(); ++p)
    if (operation.parts[p].failed && operation.error.empty()) {
      operation.error = "rank " + std::to_string(p) + " failed before";
      operation.result = ncclRemoteError;
    }
  if (operation.error.empty()) compute(operation.call, operation.parts);
  for (const auto& one : operation.at_end) one(operation);
  operation.done.store(true, std::memory_order_release);
}

}  // namespace warpgrind::libraries::nccl
