package main

import "testing"

func TestParseStatus(t *testing.T) {
	const status = "Active connections: 2 \nserver accepts handled requests\n 7 7 412 \nReading: 0 Writing: 1 Waiting: 1 \n"
	connections, requests, err := parseStatus(status)
	if err != nil || connections != 7 || requests != 412 {
		t.Errorf("%d connections, %d requests, %v", connections, requests, err)
	}
	for _, text := range []string{"", "<html>", "server accepts handled requests\n 7 x 412\n"} {
		if _, _, err := parseStatus(text); err == nil {
			t.Errorf("%q is understood", text)
		}
	}
}
