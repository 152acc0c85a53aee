{{/* Labels of every object. */}}
{{- define "tpu-slice-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "tpu-slice-operator.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* "true" if the controller `name` runs; as OperatorOptions::enables: the last entry that names it, or "*", decides. */}}
{{- define "tpu-slice-operator.enabled" -}}
{{- $enabled := "" }}
{{- range $entry := .root.Values.controllers }}
{{- if or (eq $entry "*") (eq $entry $.name) }}{{ $enabled = "true" }}{{ end }}
{{- $out := trimPrefix "-" $entry }}
{{- if hasPrefix "-" $entry }}
{{- if or (eq $out $.name) (and (eq $out "raycluster") (has $.name (list "rayjob" "raycronjob" "rayservice"))) (and (eq $out "leaderworkerset") (eq $.name "disaggregatedset")) }}{{ $enabled = "" }}{{ end }}
{{- end }}
{{- end }}
{{- $enabled }}
{{- end }}

{{/* The controller of a kind, from the path of its CRD: "rayjob" of files/crds/ray.io_rayjobs.yaml. */}}
{{- define "tpu-slice-operator.kind" -}}
{{- base . | trimSuffix "s.yaml" | splitList "_" | last }}
{{- end }}

{{/* Flags that the drain needs as well as the operator. */}}
{{- define "tpu-slice-operator.commonArgs" -}}
- --leader-election-namespace={{ .Release.Namespace }}
{{- if ne (join "," .Values.controllers) "*" }}
- --controllers={{ join "," .Values.controllers }}
{{- end }}
{{- if .Values.config }}
- --config=/etc/tpu-slice-operator/config.yaml
{{- end }}
{{- end }}

{{/* An object as YAML, with the labels of the chart. */}}
{{- define "tpu-slice-operator.object" -}}
{{- $labels := merge (include "tpu-slice-operator.labels" .root | fromYaml) (.object.metadata.labels | default dict) }}
{{- $_ := set .object.metadata "labels" $labels }}
{{- printf "---\n%s\n" (toYaml .object) }}
{{- end }}

{{/* The objects of `file`, which deploy/overlays/default installs, too: {"objects": [...]} in the release's namespace. */}}
{{- define "tpu-slice-operator.read" -}}
{{- $text := .root.Files.Get .file }}
{{- if not $text }}{{ fail (printf "the chart has no %s" .file) }}{{ end }}
{{- $objects := list }}
{{- range $document := regexSplit "(?m)^---\n" ($text | replace "tpu-slice-system" .root.Release.Namespace) -1 }}
{{- $object := fromYaml $document }}
{{- if hasKey $object "Error" }}{{ fail (printf "%s: %s" $.file $object.Error) }}{{ end }}
{{- if $object.kind }}{{ $objects = append $objects $object }}{{ end }}
{{- end }}
{{- toYaml (dict "objects" $objects) }}
{{- end }}

{{/* The same as manifest. */}}
{{- define "tpu-slice-operator.objects" -}}
{{- range $object := (include "tpu-slice-operator.read" . | fromYaml).objects }}
{{- include "tpu-slice-operator.object" (dict "root" $.root "object" $object) }}
{{- end }}
{{- end }}

{{/*
The role and the binding of `file`, that of a kind: as Role and RoleBinding in each namespace of config.watchNamespace, and as
ClusterRole for what is not in these: nodes, PriorityClasses, the Lease of the upstream controller, and the pod that holds it.
*/}}
{{- define "tpu-slice-operator.namespacedRoles" -}}
{{- $namespaces := .root.Values.config.watchNamespace | default list }}
{{- if kindIs "string" $namespaces }}{{ $namespaces = splitList "," $namespaces }}{{ end }}
{{- if not $namespaces }}{{ fail "rbac.namespaced needs config.watchNamespace" }}{{ end }}
{{- $ofCluster := list }}
{{- $ofNamespace := list }}
{{- $objects := (include "tpu-slice-operator.read" . | fromYaml).objects }}
{{- range $rule := (first $objects).rules }}
{{- if or (has "nodes" $rule.resources) (has "priorityclasses" $rule.resources) (has "leases" $rule.resources) (has "subjectaccessreviews" $rule.resources) }}
{{- $ofCluster = append $ofCluster $rule }}
{{- else }}
{{- $ofNamespace = append $ofNamespace $rule }}
{{- end }}
{{- end }}
{{- if $ofCluster }}
{{- $ofCluster = append $ofCluster (dict "apiGroups" (list "") "resources" (list "pods") "verbs" (list "get")) }}
{{- end }}
{{- range $object := $objects }}
{{- if $ofCluster }}
{{- $copy := deepCopy $object }}
{{- if $copy.rules }}{{ $_ := set $copy "rules" $ofCluster }}{{ end }}
{{- include "tpu-slice-operator.object" (dict "root" $.root "object" $copy) }}
{{- end }}
{{- range $namespace := $namespaces }}
{{- $copy := set (deepCopy $object) "kind" (trimPrefix "Cluster" $object.kind) }}
{{- $_ := set $copy.metadata "namespace" $namespace }}
{{- if $copy.rules }}{{ $_ := set $copy "rules" $ofNamespace }}{{ end }}
{{- if $copy.roleRef }}{{ $_ := set $copy.roleRef "kind" "Role" }}{{ end }}
{{- include "tpu-slice-operator.object" (dict "root" $.root "object" $copy) }}
{{- end }}
{{- end }}
{{- end }}
