{{/* The name of all objects: the release's, with "simcat" in it. */}}
{{- define "simcat.name" -}}
{{- if contains "simcat" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-simcat{{ end }}
{{- end }}

{{- define "simcat.labels" -}}
app.kubernetes.io/name: {{ include "simcat.name" . }}
{{- end }}

{{- define "simcat.workerLabels" -}}
{{ include "simcat.labels" . }}
app.kubernetes.io/component: worker
{{- end }}

{{/* The pod of a command. Takes the root, the command, and optionally env and container: further lines of both. */}}
{{- define "simcat.pod" -}}
{{- if not .container }}
restartPolicy: Never
{{- end }}
securityContext:
  runAsNonRoot: true
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
containers:
  - name: simcat
    image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) | quote }}
    args: [{{ .command }}]
    envFrom:
      - configMapRef: { name: {{ include "simcat.name" .root }} }
    env:
      {{- with .env }}
      {{- . | nindent 6 }}
      {{- end }}
      - { name: SIMCAT_API_KEY_FILE, value: /run/secrets/simcat/api-key }
      - { name: DATABASE_URL_FILE, value: /run/secrets/simcat/database-url }
      - { name: DATABASE_DIRECT_URL_FILE, value: /run/secrets/simcat/database-direct-url }
    {{- with .container }}
    {{- . | nindent 4 }}
    {{- end }}
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets/simcat, readOnly: true }
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    resources: {{- toYaml .root.Values.resources | nindent 6 }}
volumes:
  - name: secrets
    # 0440
    secret: { secretName: {{ .root.Values.existingSecret }}, defaultMode: 288 }
{{- end }}

{{/* Which exit codes end a job or an index: another attempt would not change them. Takes FailJob or FailIndex. */}}
{{- define "simcat.podFailurePolicy" -}}
rules:
  - action: Ignore
    onPodConditions: [{ type: DisruptionTarget, status: "True" }]
  - action: {{ . }}
    onExitCodes: { containerName: simcat, operator: In, values: [64, 76, 77, 78] }
  - action: {{ . }}
    onExitCodes: { containerName: simcat, operator: In, values: [2, 3] }
{{- end }}
