# Name of the stage that follows the current state of a pod; nothing if the pod runs or is terminal. Decides the same as
# next_stage() in cmd/tpu-slice-sim/cluster/nodes/pod_stages.cpp.
. as $pod
| ($pod.status.containerStatuses // []) as $containers
| ($pod.spec.initContainers // []) as $inits
| def script($name): $pod.metadata.annotations["sim.tpuslice.dev/" + $name] // "";
  def over: $pod.status.phase == "Succeeded" or $pod.status.phase == "Failed";
  def ready: any($pod.status.conditions[]?; .type == "Ready" and .status == "True");
  def restartable: .state.terminated and ($pod.spec.restartPolicy == "Always" or
    ($pod.spec.restartPolicy == "OnFailure" and .state.terminated.exitCode != 0));
  # Stage of the first init container that has not completed.
  def init_stage: first(range($inits | length) as $i
    | $pod.status.initContainerStatuses[$i].state as $state
    | select(($state.terminated.exitCode == 0 or ($inits[$i].restartPolicy == "Always" and $state.running)) | not)
    | if $state.running then "init-done" else "init" end) // null;
  if $pod.metadata.deletionTimestamp then
    # With a grace period of 0 only its finalizers keep a pod. If the client of a deletion has disconnected, the API server
    # may stop after it has marked a terminal pod; kubelets then complete the deletion.
    if ($pod.metadata.finalizers // []) != [] and $pod.metadata.deletionGracePeriodSeconds == 0 then empty
    elif over or $pod.metadata.deletionGracePeriodSeconds == 0 or
      ($pod.status.phase != "Running" and ($pod.status.podIP // "") == "") then "remove"
    else "stop" end
  elif over then empty
  elif $pod.status.startTime == null then "admit"
  elif init_stage then init_stage
  elif any($containers[]; .state.waiting and .state.waiting.reason != "CrashLoopBackOff") then
    if script("image-pull-error") != "true" then "start"
    elif any($containers[]; .state.waiting.reason == "ImagePullBackOff") then empty
    else "pull-error" end
  elif any($containers[]; restartable and .restartCount == 0) then "restart"
  elif any($containers[]; restartable) then "back-off"
  elif any($containers[]; .state.waiting) then "restart-after-back-off"
  elif script("crash-loop") == "true" and $containers[0].state.running then "crash"
  elif script("never-ready") != "true" and (ready | not) and all($containers[]; .state.running) then "ready"
  elif script("fail-after") != "" and $containers[0].state.running and $containers[0].restartCount == 0 then "fail"
  elif script("complete-after") != "" and any($containers[]; .state.running) then "complete"
  else empty end
