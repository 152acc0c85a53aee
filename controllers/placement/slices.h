// The names of controllers/slice that placement uses.
#pragma once

#include "controllers/slice/domain_name.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/refused_pods.h"
#include "controllers/slice/slice.h"
#include "controllers/slice/slice_state.h"

namespace tpuslice::placement {

// Slices and their pods.
using slice::accelerator_of;
using slice::display_name;
using slice::group_by_slice;
using slice::has_tpus;
using slice::host_index;
using slice::in_slice;
using slice::is_considered;
using slice::is_gated;
using slice::is_live;
using slice::kOpenMembers;
using slice::members_of;
using slice::NodePtr;
using slice::placed_at;
using slice::PodPtr;
using slice::read_slice;
using slice::RemovedHosts;
using slice::short_name;
using slice::Slice;
using slice::slice_key;
using slice::SlicePhase;
using slice::SliceState;
using slice::state_of;
using slice::visible_name;
using slice::workload_of;

// Domains.
using slice::domain_noun;
using slice::domain_of;
using slice::domain_of_node;
using slice::DomainName;

// Writes to pods.
using slice::cannot_be_deleted;
using slice::delete_pod;
using slice::HeldSlice;
using slice::hold_of_refused;
using slice::refused_release;
using slice::release_pod;
using slice::set_disruption_target;
using slice::set_waiting_reason;
using slice::take_held;
using slice::waiting_event;

}  // namespace tpuslice::placement
