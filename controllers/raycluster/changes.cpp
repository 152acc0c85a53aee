#include "controllers/raycluster/changes.h"

#include <iterator>
#include <utility>

namespace tpuslice::raycluster {
namespace {

template <typename T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Changes::append(Changes more) {
  move_to_end(deletes, more.deletes);
  move_to_end(services, more.services);
  move_to_end(creates, more.creates);
  move_to_end(events, more.events);
  move_to_end(reasons, more.reasons);
  move_to_end(refused, more.refused);
}

std::string join_names(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == limit) return out + fmt::format(" and {} more", names.size() - limit);
    if (i > 0) out += ", ";
    out += names[i];
  }
  return out;
}

}  // namespace tpuslice::raycluster
