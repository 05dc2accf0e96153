// Times Porcupine over histories of one register that knows read, write and compare-and-set.
//
// Standard input holds histories, each closed by a line with a dot. A line is one operation:
// client, what it does (read, write, cas), two values, call and return time. A read saw its first
// value, a write writes it, a cas replaces the first by the second; the register starts with 0. An
// operation with the return time -1 has an unknown outcome: it returns after everything else.
//
// For each history one line comes out: the verdict (Ok, Illegal, Unknown) and the nanoseconds of
// the fastest of the repetitions, of which there are fewer where they take long together.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type function uint8

const (
	read function = iota
	write
	cas
)

var named = map[string]function{"read": read, "write": write, "cas": cas}

type call struct {
	does       function
	arg, other int
}

// What the client was told; the model needs to know only whether it was told anything.
type answer struct {
	known bool
	seen  int
}

func register() porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return 0 },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			held, asked, told := state.(int), input.(call), output.(answer)
			switch asked.does {
			case read:
				return !told.known || told.seen == held, held
			case write:
				return true, asked.arg
			}
			if held == asked.arg {
				return true, asked.other
			}
			return !told.known, held
		},
	}
}

// The next history, or io.EOF where there is none.
func history(lines *bufio.Scanner) ([]porcupine.Operation, error) {
	var found []porcupine.Operation
	end := int64(0)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "." {
			for i := range found {
				if found[i].Return < 0 {
					found[i].Return = end + 1
				}
			}
			return found, nil
		}
		var client, arg, other int
		var does string
		var called, returned int64
		_, err := fmt.Sscan(lines.Text(), &client, &does, &arg, &other, &called, &returned)
		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", lines.Text(), err)
		}
		asked, exists := named[does]
		if !exists {
			return nil, fmt.Errorf("there is no operation %q", does)
		}
		end = max(end, called, returned)
		found = append(found, porcupine.Operation{
			ClientId: client,
			Input:    call{asked, arg, other},
			Output:   answer{known: returned >= 0, seen: arg},
			Call:     called,
			Return:   returned,
		})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

func fastest(model porcupine.Model, operations []porcupine.Operation, repeat int, worth, patience time.Duration) (porcupine.CheckResult, time.Duration) {
	var verdict porcupine.CheckResult
	best := time.Duration(1<<63 - 1)
	begun := time.Now()
	for range repeat {
		started := time.Now()
		verdict = porcupine.CheckOperationsTimeout(model, operations, patience)
		best = min(best, time.Since(started))
		if time.Since(begun) > worth {
			break
		}
	}
	return verdict, best
}

func main() {
	repeat := flag.Int("repeat", 1, "how often each history is checked")
	worth := flag.Duration("worth", time.Second, "after which checks are not repeated")
	patience := flag.Duration("patience", 10*time.Second, "after which a check is given up")
	flag.Parse()
	lines := bufio.NewScanner(os.Stdin)
	for {
		operations, err := history(lines)
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		verdict, took := fastest(register(), operations, *repeat, *worth, *patience)
		fmt.Println(verdict, took.Nanoseconds())
	}
}
