# The JSON schema of `report --view NAME --json`, from what `report --view list --json` says (`make docs`).
def type_of: {share: "number", address: "string", text: "string"}[.] // "integer";
def table: {type: "array", items: {type: "object", additionalProperties: false, properties:
    (.columns | map({(.name): {type: [.kind | type_of, "null"], description: .kind}}) | add)}};
def view: {if: {properties: {view: {const: .name}}}, then: {description: .meaning, properties: {heaps: {type: "array",
    items: {"$ref": "definitions.json#/$defs/place", properties: (.tables | map({(.name): table}) | add),
            unevaluatedProperties: false}}}}};

.views | map(select(.tables != [])) |
"{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",
\"$comment\": \"Made by `make docs` from the tables in bpf/views/rows. Change these, not this.\",
\"title\": \"edenscope/view/1\",
\"description\": \"edenscope report --view NAME --json: all tables of a view, or the columns of -F\",
\"type\": \"object\", \"required\": [\"schema\", \"view\", \"lost\", \"heaps\"], \"additionalProperties\": false,
\"properties\": {\"schema\": {\"const\": \"edenscope/view/1\"}, \"view\": {\"enum\": \(map(.name) | tojson)},
  \"lost\": {\"type\": \"integer\", \"description\": \"events\"}, \"heaps\": {\"type\": \"array\"}},
\"allOf\": [
\(map(view | tojson) | join(",\n"))
]}"
