#!/usr/bin/env bash
# build.sh: makes images without a container engine, once, and adds them to the store that all nodes share (node.sh).
#
#   images/build.sh NAME...
#
#   pause        sandbox of pods
#   busybox      Debian's, which resolves names as others do
#   python       Debian with Python, JAX, and Ray with its parts default, serve and train
#
# The names of the images are localhost/<NAME>:1. Prints the directory of the store.
set -euo pipefail
source "$(dirname "$0")/../versions.sh"
source "$here/../support/build_once.sh"
jax=0.10.2
ray=2.60.0

fill_pause() { gcc -static -Os -s -o "$1/pause" "$here/images/pause.c"; }

fill_busybox() {
  mkdir -p "$1"/{bin,etc,root,tmp,var}
  chmod 1777 "$1/tmp"
  ldd /bin/busybox | grep -o '/[^ ]*' | xargs cp --parents --dereference -t "$1"
  cp /bin/busybox "$1/bin/"
  for applet in $(/bin/busybox --list); do [ -e "$1/bin/$applet" ] || ln -s busybox "$1/bin/$applet"; done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
}

# Probes of Ray's containers run wget.
fill_python() {
  local packages=/usr/local/lib/python3.11/dist-packages program
  local site=$1$packages
  "$here/../support/deps.sh" mmdebstrap
  mmdebstrap --quiet --variant=minbase --include=python3,ca-certificates,procps,iproute2,wget bookworm "$1"
  rm -rf "$1"/var/{cache/apt,lib/apt/lists}/*
  /usr/bin/python3 -m venv "$temporary/pip" # Debian's, as in the image
  "$temporary/pip/bin/pip" install -q --target "$site" "ray[default,serve,train]==$ray" "jax[cpu]==$jax"
  for program in "$site"/bin/*; do
    [ -f "$program" ] || continue
    sed -i '1s|^#!.*|#!/usr/bin/python3|' "$program"
    ln -s "$packages/bin/${program##*/}" "$1/usr/local/bin/"
  done
}

# archive NAME: prints the image with the files of $temporary/root, as `docker save` does.
archive() {
  local out=$temporary/archive diff_id
  mkdir "$out"
  tar -C "$temporary/root" --numeric-owner -cf "$out/layer.tar" .
  diff_id=sha256:$(sha256sum <"$out/layer.tar" | cut -d ' ' -f 1)
  jq -cn --arg architecture "$(dpkg --print-architecture)" --arg diff_id "$diff_id" --arg name "$1" '{
    architecture: $architecture, os: "linux", rootfs: {type: "layers", diff_ids: [$diff_id]},
    config: ({Env: ["PATH=/usr/local/bin:/usr/bin:/bin"]} + (if $name == "pause" then {Entrypoint: ["/pause"]} else {} end))
  }' >"$out/config.json"
  jq -cn --arg tag "localhost/$1:1" '[{Config: "config.json", RepoTags: [$tag], Layers: ["layer.tar"]}]' >"$out/manifest.json"
  tar -C "$out" -cf - manifest.json config.json layer.tar
}

# add: imports the archive on stdin into the store, by a containerd that ends with this.
add() {
  unshare --mount --pid --fork --kill-child --mount-proc bash -euc '
    programs=$1 store=$2 state=$3
    mkdir -p "$state"
    printf "version = 3\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n" >"$state/config.toml"
    "$programs/containerd" --config "$state/config.toml" --root "$store" --state "$state/run" \
      --address "$state/socket" >"$state/log" 2>&1 &
    until [ -S "$state/socket" ]; do sleep 0.05; done
    "$programs/ctr" -a "$state/socket" -n k8s.io images import --local --snapshotter overlayfs - >>"$state/log" 2>&1 ||
      { tail -n 5 "$state/log" >&2; exit 1; }
    kill $! && wait $! || true' add "$1" "$images" "$temporary/state"
}

programs=$("$here/build.sh")
for image in "$@"; do
  (
    name="image $image"
    declare -F "fill_$image" >/dev/null || die "unknown; known are pause, busybox and python"
    cache=$images begin_build "$images/$image.complete"
    begun=$SECONDS
    umask 022
    mkdir "$temporary/root"
    "fill_$image" "$temporary/root" >&2
    archive "$image" >"$temporary/archive.tar"
    add "$programs" <"$temporary/archive.tar"
    touch "$images/$image.complete" && chmod +x "$images/$image.complete"
    printf 'image %-18s %4d s  %4d MB\n' "$image" $((SECONDS - begun)) \
      $(($(stat -c %s "$temporary/archive.tar") / 1000000)) >&2
  )
done
echo "$images"
