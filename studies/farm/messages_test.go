package farm

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
)

// staysHere are the fields that do not travel, by type. Whoever adds one says why it is not missed:
//   - the files of a binary travel as blobs, and where they lie is another place there;
//   - how long a task waited is known by who asked;
//   - the raw series of an outcome is for the evaluator that took it;
//   - a loose roofline stays where the impossible is found, and others get none.
var staysHere = map[string][]string{
	"check.Module":       {"Path", "Support", "File", "SupportFile"},
	"objective.Binary":   {"Hit"},
	"farm.Answer":        {"Waited"},
	"objective.Outcome":  {"series"},
	"objective.Roofline": {"Loose"},
}

// Whatever one machine tells another arrives, every field of it: a field that is added travels, or is
// listed above.
func TestEveryFieldTravels(t *testing.T) {
	for _, sent := range []any{&Job{}, &Answer{}, &Offers{}} {
		value := reflect.ValueOf(sent).Elem()
		set(t, value, value.Type().Name(), 0)
		encoded, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		arrived := reflect.New(value.Type())
		if err := json.Unmarshal(encoded, arrived.Interface()); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(arrived.Interface())
		if err != nil || string(again) != string(encoded) || !reflect.DeepEqual(arrived.Interface(), sent) {
			t.Errorf("%T: sent %s, arrived %s, %v", sent, encoded, again, err)
		}
	}
	functions := []kernels.Function{{Symbol: "_Z3addPf"}}
	binary := Binary{Module: "m", Built: objective.Binary{Module: objective.Module{Functions: functions}}}
	if encoded, err := json.Marshal(binary); err != nil || !strings.Contains(string(encoded), "_Z3addPf") {
		t.Errorf("%s, %v", encoded, err)
	}
}

// set gives every field that travels a value of its own, and fails where one cannot travel.
func set(t *testing.T, value reflect.Value, path string, depth int) {
	t.Helper()
	if depth > 12 {
		return // a type that holds itself
	}
	if _, text := value.Addr().Interface().(encoding.TextUnmarshaler); text {
		setText(t, value, path)
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if slices.Contains(staysHere[value.Type().String()], field.Name) {
				continue
			}
			if !field.IsExported() && !field.Anonymous || field.Tag.Get("json") == "-" {
				t.Errorf("%s.%s does not travel: is it missed?", path, field.Name)
				continue
			}
			set(t, value.Field(i), path+"."+field.Name, depth+1)
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		set(t, value.Elem(), path, depth+1)
	case reflect.Slice:
		if value.Type() == reflect.TypeFor[json.RawMessage]() {
			value.SetBytes([]byte(`{"a":1}`))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		set(t, value.Index(0), path, depth+1)
	case reflect.Array:
		for i := range value.Len() {
			set(t, value.Index(i), path, depth+1)
		}
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		set(t, key, path, depth+1)
		set(t, element, path, depth+1)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, element)
	case reflect.String:
		value.SetString("text")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		value.SetUint(7)
	case reflect.Float32, reflect.Float64:
		value.SetFloat(1.5)
	default:
		t.Errorf("%s: nobody knows how a %s travels", path, value.Kind())
	}
}

// setText finds a text that a type reads.
func setText(t *testing.T, value reflect.Value, path string) {
	t.Helper()
	var tried []string
	for _, text := range []string{"1.5", "A=1", "2026-01-02T03:04:05Z"} {
		err := value.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
		if err == nil {
			return
		}
		tried = append(tried, fmt.Sprint(err))
	}
	t.Errorf("%s: %v", path, tried)
}
